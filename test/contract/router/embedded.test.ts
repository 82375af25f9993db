// The playground's own router is held to the same contract as the real ones.

import { describeWithRouter } from '../../support/routers/describe-with-router.ts'
import { prepareSuite } from '../../support/routers/router-under-test.ts'
import { routerContract } from './router-contract.ts'

const suite = await prepareSuite('embedded')

describeWithRouter(suite, () => routerContract(suite))
