"""The layout of a page, as classes of its article.

The style sheet could ask with `:has` which elements a page has. But while a page is loading, these
elements are still missing, so the text would move when they arrive.
"""

ARTICLE = '<article class="md-content__inner md-typeset'
CLASS_OF_ELEMENT = {
    'class="promise"': "home",
    'class="progress"': "course",
    'class="panel"': "beside-panel",
}


def add_classes(page: str) -> str:
    """Add to the article of a page a class for each element on which the layout depends.

    >>> add_classes(f'{ARTICLE}"><h1>Masks</h1><details class="progress">')
    '<article class="md-content__inner md-typeset course"><h1>Masks</h1><details class="progress">'
    """
    head, article, content = page.partition(ARTICLE)
    classes = [name for element, name in CLASS_OF_ELEMENT.items() if element in content]
    return head + " ".join([article, *classes]) + content
