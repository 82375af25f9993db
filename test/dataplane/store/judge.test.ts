import { describe, expect, it } from '@jest/globals'
import { amongReplicas, judgeAtOnce, type Judgement } from '../../../dataplane/store/judge.ts'
import { factsOf } from '../../../language/realm/facts.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'

const RECORD: RealmRecord = { uri: 'com.example', authmethods: ['oidcrp', 'cookie'] }
const KEYED: RealmRecord = { ...RECORD, signing_keys: ['a key'] }
const DOCUMENT = {
  id: 'a',
  host: '_',
  realm_uri: 'com.example',
  security: { type: 'oauth2', flow: 'client_credentials' },
  versions: {
    v1: { base_path: '/v1', paths: { '/x': { get: { action: { type: 'static', body: {} } } } } },
  },
}

const judge = judgeAtOnce()
const judgeAmongReplicas = amongReplicas(judge)

const warningsOf = (judgement: Judgement): readonly string[] =>
  judgement.ok ? judgement.warnings.map(({ code }) => code) : ['not ok']

describe('keys that replicas do not share', () => {
  it.each([
    ['one gateway', judge, RECORD, []],
    ['replicas', judgeAmongReplicas, RECORD, ['UnsharedKeys']],
    ['replicas of a realm with keys', judgeAmongReplicas, KEYED, []],
  ])('%s', (_, judging, record, expected) => {
    expect(warningsOf(judging(DOCUMENT, { realm: () => factsOf(record) }))).toEqual(expected)
  })

  it('a realm that is not there is still none', () => {
    expect(judgeAmongReplicas(DOCUMENT, { realm: () => undefined })).toMatchObject({
      ok: false,
      problems: [{ code: 'no_such_realm' }],
    })
  })
})
