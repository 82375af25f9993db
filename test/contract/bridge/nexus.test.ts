// The bridge as the actions use it, against nexus.

import { describeWithRouter } from '../../support/routers/describe-with-router.ts'
import { prepareSuite } from '../../support/routers/router-under-test.ts'
import { bridgeContract } from './bridge-contract.ts'

// Its default of 64 messages per client loses calls; a test asks for 10,000 at once.
const suite = await prepareSuite('nexus', { config: { out_queue_size: 30_000 } })

describeWithRouter(suite, () => bridgeContract(suite))
