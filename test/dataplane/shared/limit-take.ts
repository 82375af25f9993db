// Makes what a limit takes for a request: one of 1000 a second.

import type { LimitTake } from '../../../dataplane/shared/rate-buckets.ts'

export const limitTake = (more: Partial<LimitTake> = {}): LimitTake => ({
  key: 'key',
  sharedKey: 'shared',
  tenant: 'shop',
  room: 'anyone',
  requests: 1000,
  seconds: 1,
  capacity: 1000,
  cost: 1,
  ...more,
})
