// Which resource a document comes from reaches gateways with the document, and no digest differs with it.

import { afterEach, expect, it } from '@jest/globals'
import { aDesiredSet, aDocument } from '../../support/desired.ts'
import { eventually } from '../../support/eventually.ts'
import type { FakeDataPlane } from '../../support/fake-data-plane.ts'
import { aFleet, aPlane, closeAll, synced } from './rig.ts'

afterEach(closeAll)

const putsOf = ({ syncs }: FakeDataPlane): readonly string[] =>
  syncs.flatMap(({ specs }) => specs?.put ?? []).map(({ id, resource = '' }) => `${id} ${resource}`)

/** The desired set is applied again, so that there is another round. */
const applied = async (
  { fleet }: ReturnType<typeof aFleet>,
  version: number,
  resource = 'default/a',
): Promise<void> => {
  fleet.apply(aDesiredSet([aDocument('a', { resource })], { version }))
  await synced(fleet)
}

it('is not sent for its own sake to a gateway that an older operator has served', async () => {
  const plane = await aPlane()
  plane.isNaming = true
  plane.specs.set('a', {
    digest: 'digest-of-a',
    managedBy: 'svc-operator',
    resource: '',
    warnings: [],
  })
  const rig = aFleet([plane])
  await applied(rig, 1)
  await applied(rig, 2)
  plane.touch()
  await applied(rig, 3)
  expect(putsOf(plane)).toEqual([])
})

it('reaches a gateway again where the same text comes from another resource', async () => {
  const plane = await aPlane()
  plane.isNaming = true
  const rig = aFleet([plane])
  await applied(rig, 1)
  await applied(rig, 2, 'shop/a')
  await eventually(() => {
    expect(putsOf(plane)).toEqual(['a default/a', 'a shop/a'])
  })
})

it('is not sent for its own sake to a gateway that does not know it', async () => {
  const plane = await aPlane()
  plane.specs.set('a', { digest: 'digest-of-a', managedBy: 'svc-operator', warnings: [] })
  const rig = aFleet([plane])
  await applied(rig, 1)
  await applied(rig, 2)
  plane.touch()
  await applied(rig, 3)
  expect(putsOf(plane)).toEqual([])
})
