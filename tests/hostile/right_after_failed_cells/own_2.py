name = input("Who are you? ")
