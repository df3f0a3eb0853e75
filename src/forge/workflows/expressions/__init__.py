"""One language for conditions and templates: CEL, with pipes and a few functions of ours. `docs/reference/expressions.md`"""

from forge.workflows.expressions.checking import Reference, check_expression, check_template
from forge.workflows.expressions.evaluating import evaluate, is_true
from forge.workflows.expressions.filling import fill
from forge.workflows.expressions.marks import SecretMarks
from forge.workflows.expressions.problem import ExpressionError

__all__ = [
    "ExpressionError",
    "Reference",
    "SecretMarks",
    "check_expression",
    "check_template",
    "evaluate",
    "fill",
    "is_true",
]
