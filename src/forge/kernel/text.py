"""Text from outside, made fit to be stored and sent."""


def whole_characters(text: str) -> str:
    """Halves of a character that belong together are joined; one that is alone cannot be encoded and is replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
