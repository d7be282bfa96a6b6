"""Remove the outputs of notebooks: clear_notebooks.py FILE... Exit status 1 if there were any."""

import json
import sys


def main():
    changed = [path for path in sys.argv[1:] if remove_outputs(path)]
    for path in changed:
        print("outputs removed: {}".format(path))
    return 1 if changed else 0


def remove_outputs(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell.update(execution_count=None, outputs=[])
    cleared_text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(cleared_text)
    return cleared_text != text


if __name__ == "__main__":
    sys.exit(main())
