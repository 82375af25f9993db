// The bridge as the actions use it, against Crossbar.

import { describeWithRouter } from '../../support/routers/describe-with-router.ts'
import { prepareSuite } from '../../support/routers/router-under-test.ts'
import { bridgeContract } from './bridge-contract.ts'

const suite = await prepareSuite('crossbar')

describeWithRouter(suite, () => bridgeContract(suite))
