// The bridge does the same against the playground's own router as against the real ones.

import { describeWithRouter } from '../../support/routers/describe-with-router.ts'
import { prepareSuite } from '../../support/routers/router-under-test.ts'
import { bridgeContract } from './bridge-contract.ts'

const suite = await prepareSuite('embedded')

describeWithRouter(suite, () => bridgeContract(suite))
