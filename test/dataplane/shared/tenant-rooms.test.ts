// Tests that keys of rate limits which say nothing any more make room, wherever they are.

import { expect, it } from '@jest/globals'
import type { LimitTake } from '../../../dataplane/shared/rate-buckets.ts'
import { RecentGrants } from '../../../dataplane/shared/recent-grants.ts'
import { TenantRooms } from '../../../dataplane/shared/tenant-rooms.ts'
import { createManualClock } from '../../support/manual-clock.ts'

const placeOf = (tenant: string, key: string) => ({ tenant, key, room: 'anyone' }) as const

it('idle entries of quiet rooms make room for others, and for as many as they were', () => {
  let isIdle = false
  const rooms = new TenantRooms<number>(() => isIdle, { perRoom: 50, inAll: 100, reserved: 10 })
  for (let at = 0; at < 50; at++) {
    rooms.add(placeOf('quiet', `${at}`), at)
    rooms.add(placeOf('deleted', `${at}`), at)
  }
  const added = (): number => {
    let count = 0
    for (; rooms.hasRoom(placeOf('busy', `${count}`)) && count < 100; count++)
      rooms.add(placeOf('busy', `${count}-${rooms.size}`), count)
    return count
  }
  expect(added()).toBe(10)
  isIdle = true
  expect(added()).toBe(100)
  expect(rooms.size).toBeLessThanOrEqual(100)
})

it('what a process has let through is kept until the bucket is full again, and no longer', () => {
  const clock = createManualClock()
  const grants = new RecentGrants(() => clock.now(), { perRoom: 1, inAll: 10, reserved: 1 })
  const take = (key: string): LimitTake => ({
    ...placeOf('shop', key),
    sharedKey: 'shared',
    requests: 86_400,
    seconds: 86_400,
    capacity: 86_400,
    cost: 2,
  })
  grants.add(take('first'))
  clock.advance(1999)
  expect(grants.place(take('second')).key).toBe('shared')
  clock.advance(1)
  expect(grants.place(take('second')).key).toBe('second')
})
