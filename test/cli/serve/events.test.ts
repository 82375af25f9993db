// Lines of the programs, as a person wants to see them.

import { expect, it } from '@jest/globals'
import { describeEvent } from '../../../cli/serve/events.ts'

const AT = new Date(2026, 0, 2, 3, 4, 5)

it.each<[string, string, string]>([
  [
    'a load',
    '{"level":"info","time":"t","name":"svc-gateway","id":"a","kind":"spec","msg":"entry loaded"}',
    'entry loaded  id=a  kind=spec',
  ],
  [
    'a warning',
    '{"level":"warn","msg":"watching fails","error":{"message":"x"}}',
    'warn: watching fails  error={"message":"x"}',
  ],
  [
    'a login',
    '{"level":"info","audit":true,"event":"login","outcome":"success","reason":"","authid":"a","msg":"audit"}',
    'audit  event=login  outcome=success  authid=a',
  ],
  [
    'a fault',
    '  a.yaml:3 ApiSpecification default/a /spec/document/id no id',
    '  a.yaml:3 ApiSpecification default/a /spec/document/id no id',
  ],
  [
    'a request that failed',
    '{"time":"t","id":"r1","peername":"127.0.0.1:5","method":"GET","host":"127.0.0.1:18080","path":"/a","status":502,"ms":1.5,"bytes":9,"api":"com.a","version":"v1","trace":"f"}',
    'GET /a -> 502  api=com.a',
  ],
  [
    'a request that failed, with what a later access log may say',
    '{"method":"GET","path":"/a","status":502,"api":"a","code":"svc.error.bad_gateway","reason":"ECONNREFUSED"}',
    'GET /a -> 502  api=a  code=svc.error.bad_gateway  reason=ECONNREFUSED',
  ],
  [
    'a request for what is not there',
    '{"method":"GET","path":"/none","status":404,"api":"","version":""}',
    'GET /none -> 404  no document serves this host and path',
  ],
  [
    'a request that a document answers with 404',
    '{"method":"GET","path":"/a","status":404,"api":"a","version":"v1"}',
    'GET /a -> 404  api=a',
  ],
  ['a line that only looks like a record', '{"level', '{"level'],
  [
    'an end',
    'ApiSpecification default/a  Ready=True  Ready  in service',
    'ApiSpecification default/a  Ready=True  Ready  in service',
  ],
])('%s is shown', (_name, line, words) => {
  expect(describeEvent('gateway', line, AT)).toBe(`03:04:05  gateway   ${words}`)
})

it.each([
  '',
  '{"level":"debug","msg":"x"}',
  '{"level":"info","msg":"desired state has changed","version":3}',
  '{"level":"info","msg":"data plane has processed a batch","loaded":1}',
  '{"method":"GET","path":"/a","status":200,"api":"a"}',
  '{"method":"GET","path":"/a","status":302,"api":"a"}',
  '{"method":"GET","path":"/favicon.ico","status":404,"api":""}',
  '{"method":"GET","path":"/live","status":499,"api":"a"}',
  'ApiSpecification default/a  Ready=False  Pending  being sent to the data planes',
])('%j is not', (line) => {
  expect(describeEvent('operator', line, AT)).toBeUndefined()
})
