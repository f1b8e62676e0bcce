"""Acts of accounts, by noun: import the function from the module that holds it, or from here."""
