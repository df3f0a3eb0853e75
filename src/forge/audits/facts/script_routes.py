"""The routes a Script file declares. (Skeleton: to be filled.)"""

from tree_sitter import Node

from forge.audits.facts.route_facts import RouteFacts


def routes_of(root: Node, data: bytes) -> RouteFacts:
    return RouteFacts()
