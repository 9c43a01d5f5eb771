"""All games there are. A further one is one module in rules/ and one line here."""

from collections.abc import Mapping

from rules.fifty_states import FIFTY_STATES
from rules.game import LIFE_FACTS, Rules
from rules.war import CLASSIC, GAMEWEAVE, PLAYBOOK

RULES: Mapping[str, Rules] = {rules.name: rules for rules in (FIFTY_STATES, PLAYBOOK, GAMEWEAVE, CLASSIC)}
"""By name and version, as it stands in `Opened`. Old versions stay here for ever."""

FACTS: Mapping[str, type] = {
    fact.__name__: fact for facts in (LIFE_FACTS, *(rules.facts for rules in RULES.values())) for fact in facts
}
"""By stored type name. Two games may share a type; two types never share a name."""
