"""When a schedule is due: texts and moments in, moments out. Knows nothing of workflows."""
