"""The host function of running skills: the operations they can call, and the grants each needs."""
