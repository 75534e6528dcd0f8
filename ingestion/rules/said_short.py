"""The words by which a bracket gives a short name: 以下简称, 下文统称为, 以下分别简称."""

# What stands before the short name in the bracket, marks behind it included.
SAID_SHORT = (
    r"(?:以下|下文|后文|下)?(?:分别|均统一|统一|统|均|合)?(?:[简统合]称|(?<=[下文])称(?!号|重|量|职))"
    r"(?:为|作)?[:：，]?\s*"
)
