"""Commands that agents may run: policy, execution and test reports."""
