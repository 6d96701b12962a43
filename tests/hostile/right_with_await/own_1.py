import asyncio


async def constant():
    await asyncio.sleep(0)
    return 1.0


one = await constant()
