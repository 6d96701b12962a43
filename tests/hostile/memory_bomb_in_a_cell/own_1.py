hoard = bytearray(10**11)
