"""The whole product as one object, given its parts. Interfaces and the blocking facade call only this."""
