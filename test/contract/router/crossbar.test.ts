// What the bridge relies on, measured on Crossbar: a change of version shows here.

import { describeWithRouter } from '../../support/routers/describe-with-router.ts'
import { prepareSuite } from '../../support/routers/router-under-test.ts'
import { routerContract } from './router-contract.ts'

const suite = await prepareSuite('crossbar')

describeWithRouter(suite, () => routerContract(suite))
