"""The names that fields have in JSON are in the schemas."""


def to_camel(name: str) -> str:
    return name
