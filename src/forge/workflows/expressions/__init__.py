"""The expression language of conditions and templates: CEL with pipes and extra functions, see docs/reference/expressions.md."""
