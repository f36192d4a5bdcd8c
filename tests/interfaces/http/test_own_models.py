from pathlib import Path

from commonplace.adapters.hashing import HashEmbedder
from commonplace.interfaces.http.service import opened_service
from commonplace.wiring import Location


async def test_a_service_reads_each_tenant_by_its_own_model(tmp_path: Path) -> None:
    own = {"acme": HashEmbedder(dimensions=48), "acme/ana": HashEmbedder(dimensions=64)}
    location = Location(home=tmp_path)
    async with opened_service(location, {}, embedder=HashEmbedder(dimensions=32), embedders=own) as service:
        for tenant, user, dimensions in (("default", "ana", 32), ("acme", "ben", 48), ("acme", "ana", 64)):
            memory = await service.memory(tenant)
            await memory.add("I use Shram and Magnet as productivity tools", user=user)
            assert "Shram" in (await memory.recall("which tools do I use?", user=user))[0].text
            assert (await memory.embed(["tools"], user=user)).shape == (1, dimensions)
        assert sorted((await (await service.memory("acme")).stats()).own_embedders.values()) == [1, 1]
