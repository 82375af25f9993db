// What clients of a gateway see when something goes wrong with Crossbar, or between the two.

import { describeWithRouter } from '../support/routers/describe-with-router.ts'
import { prepareSuite } from '../support/routers/router-under-test.ts'
import { faultSuite } from './wamp/fault-suite.ts'

const suite = await prepareSuite('crossbar')

describeWithRouter(suite, () => faultSuite(suite))
