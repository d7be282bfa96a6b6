"""Record examples as graphs of operations, which pages compute again after a reader's edit."""
