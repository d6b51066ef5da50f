"""Random-based destroy operators: customers drawn without regard to cost or place."""

from neuralns.operators.toolkit import destroy, random_route, random_routed, remove, remove_route


@destroy("random-node", "random")
def random_node(state, quota):
    """Remove customers drawn uniformly without replacement.

    Ropke & Pisinger 2006, section 3.1.2.
    """
    while state.n_removed < quota:
        remove(state, random_routed(state))


@destroy("random-route", "random")
def random_route_removal(state, quota):
    """Remove whole routes drawn uniformly; the last one is cut to what is still needed.

    Demir, Bektaş & Laporte 2012, section 3.3.1 (route removal).
    """
    while state.n_removed < quota:
        remove_route(state, random_route(state), quota)
