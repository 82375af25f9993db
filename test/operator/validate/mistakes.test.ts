// What validate says of the mistakes that people make: each with its place, code and remedy.

import { describe, expect, it } from '@jest/globals'
import { validateFiles } from '../../../operator/validate/validate-files.ts'

const DOCUMENT = `id: orders
host: api.test
realm_uri: com.acme
variables:
  backend: http://backend.test:8080
  limit: 10
versions:
  v1:
    base_path: /v1
    paths:
      /items/:id:
        get:
          action:
            type: forward
            host: '{{variables.backend}}'
            path: /items/{{request.bindings.id}}
            timeout: 5000
          response:
            on_result:
              status_code: 200
`

const REALM = `apiVersion: gateway.svc.dev/v1alpha1
kind: Realm
metadata: {name: acme}
spec: {uri: com.acme}
`

/** `line:column code`, and the message. */
const findingsOf = (document: string): readonly (readonly [string, string])[] =>
  validateFiles([
    { name: 'document.yaml', text: document },
    { name: 'realm.yaml', text: REALM },
  ]).findings.map(({ line, column, code, message }) => [`${line}:${column} ${code}`, message])

describe('mistakes', () => {
  it('none is in the document that they are put into', () => {
    expect(findingsOf(DOCUMENT)).toEqual([])
  })

  it.each<[string, string | RegExp, string, readonly string[]]>([
    [
      'basepath',
      'base_path:',
      'basepath:',
      [
        "8:3 missing_required_value Is 'basepath' a misspelling",
        "9:15 UnknownProperty did you mean 'base_path'?",
      ],
    ],
    [
      'gett',
      'get:',
      'gett:',
      [
        "11:7 missing_required_value Is 'gett' a misspelling",
        "12:9 UnknownProperty did you mean 'get'?",
      ],
    ],
    [
      'GET',
      ' get:',
      ' GET:',
      [
        "11:7 missing_required_value Is 'GET' a misspelling",
        "12:9 UnknownProperty did you mean 'get'?",
      ],
    ],
    [
      'realmUri',
      'realm_uri:',
      'realmUri:',
      [
        "1:1 missing_required_value Is 'realmUri' a misspelling",
        "3:11 UnknownProperty did you mean 'realm_uri'?",
      ],
    ],
    ['respones', 'response:', 'respones:', ["18:11 UnknownProperty did you mean 'response'?"]],
    [
      'cors',
      'response:',
      'cors: {a: 1}\n          response:',
      ['18:17 UnknownProperty examples/10-cors.yaml'],
    ],
    [
      'an unknown property with a block below it',
      'response:',
      'rate_limit:\n            a: 1\n          response:',
      ['18:11 UnknownProperty there are no rate limits'],
    ],
    [
      'a unit',
      'timeout: 5000',
      'timeout: 5s',
      ['17:22 invalid_datatype It is in milliseconds: write 5000'],
    ],
    [
      'seconds',
      'timeout: 5000',
      'timeout: 30',
      ['17:22 ShortTimeout if seconds are meant, write 30000'],
    ],
    [
      'an unknown type',
      'type: forward',
      'type: foward',
      ['14:19 unsupported_action_type Did you mean "forward"?'],
    ],
    [
      'a method in upper case',
      'timeout: 5000',
      'http_method: GET',
      ['17:26 invalid_value Did you mean "get"?'],
    ],
    [
      'an unknown function',
      '{{variables.backend}}',
      '{{variables.backend |> default(x)}}',
      ['15:19 invalid_expression there is get(key, default)'],
    ],
    [
      'an unknown root',
      'request.bindings.id',
      'req.bindings.id',
      ["16:19 invalid_expression there is no 'req' to read; there are request"],
    ],
    [
      'an unknown field',
      'request.bindings.id',
      'request.params.id',
      ['16:19 AlwaysFails it is called bindings for the path'],
    ],
    [
      'brackets',
      'request.bindings.id',
      'request.bindings[0]',
      ['16:19 AlwaysFails keys are read with a dot'],
    ],
    [
      'a binding that the path lacks',
      'request.bindings.id',
      'request.bindings.item_id',
      ["16:19 AlwaysFails no binding 'item_id'; it has 'id'"],
    ],
    [
      'an unknown variable',
      'variables.backend}',
      'variables.backened}',
      ["15:19 invalid_expression did you mean 'backend'?"],
    ],
    [
      'a tag without an end',
      '{{request.bindings.id}}',
      '{{request.bindings.id',
      ["16:19 invalid_expression there is no '}}' for the '{{'"],
    ],
    [
      '{x}',
      '{{request.bindings.id}}',
      '{request.bindings.id}',
      ['16:19 TakenLiterally write {{request.bindings.id}}'],
    ],
    [
      '${x}',
      '{{request.bindings.id}}',
      '${request.bindings.id}',
      ['16:19 TakenLiterally write {{request.bindings.id}}'],
    ],
    [
      'a variable of the environment',
      'http://backend.test:8080',
      '${BACKEND}',
      ['5:12 TakenLiterally write {{variables.backend}}'],
    ],
    [
      '{id} in a path',
      '/items/:id:',
      '/items/{id}:',
      ["11:7 TakenLiterally write ':id'", '16:19 AlwaysFails a segment is bound with a colon'],
    ],
    [
      '* in a path',
      '/items/:id:',
      '/items/*:',
      ["11:7 TakenLiterally write '[...]'", "16:19 AlwaysFails no binding 'id'"],
    ],
    [
      'a text where a number is needed',
      '{{request.bindings.id}}',
      '{{request.path |> nth(a)}}',
      ['16:19 AlwaysFails nth takes a whole number'],
    ],
    [
      'a text where a map is needed',
      '{{request.bindings.id}}',
      '{{request.headers |> merge(abc)}}',
      ['16:19 AlwaysFails merge takes maps'],
    ],
    [
      'a pipe of other languages',
      '{{request.bindings.id}}',
      '{{request.bindings.id | string}}',
      [
        "16:19 AlwaysFails no binding 'id|string'",
        '16:19 SuspiciousExpression a function is applied with |>',
      ],
    ],
    [
      'arithmetic',
      '{{request.bindings.id}}',
      '{{request.body.a + 1}}',
      ['16:19 SuspiciousExpression there is no arithmetic'],
    ],
    [
      'a header in upper case',
      'request.bindings.id',
      'request.headers.Content-Type',
      ['16:19 AlwaysFails request.headers.content-type'],
    ],
    [
      'a result before the action',
      'request.bindings.id',
      'action.result.body',
      ['16:19 AlwaysFails in on_result only'],
    ],
    [
      'if',
      '{{request.bindings.id}}',
      '{{if request.body}}',
      ["16:19 invalid_expression there is no 'if' and no loop"],
    ],
    [
      'an expression without quotes',
      "'{{variables.backend}}'",
      '{{variables.backend}}',
      ["15:19 invalid_datatype write '{{variables.backend}}', in quotes"],
    ],
    [
      'an expression without quotes, and more',
      "'{{variables.backend}}'",
      '{{variables.backend}}/',
      ["15:19 invalid_yaml write '{{variables.backend}}/', in quotes"],
    ],
    [
      'an upstream with a path, in a variable',
      'http://backend.test:8080',
      'http://backend.test/api',
      ['5:12 AlwaysFails must not carry a path'],
    ],
    [
      'an upstream with a path',
      "'{{variables.backend}}'",
      'http://x/api',
      ['15:19 AlwaysFails must not carry a path'],
    ],
    [
      'an upstream of another scheme',
      'http://backend.test:8080',
      'ftp://x',
      ['5:12 AlwaysFails must be http or https'],
    ],
    [
      'an impossible port',
      'http://backend.test:8080',
      'http://x:99999',
      ['5:12 AlwaysFails a port from 1 to 65535'],
    ],
    [
      'an expression for a whole map',
      'response:\n            on_result:\n              status_code: 200',
      "response: '{{variables.limit}}'",
      ['18:21 invalid_datatype An expression may stand in its members'],
    ],
    [
      'a status in words',
      'status_code: 200',
      'status_code: bad gateway',
      ['20:28 invalid_datatype one as text ("404")'],
    ],
    [
      'a realm that is misspelt',
      'com.acme',
      'com.acmee',
      ["3:12 RealmNotFound did you mean 'com.acme'?"],
    ],
    [
      'a key twice',
      'host: api.test',
      'host: api.test\nhost: b.test',
      ["3:1 invalid_yaml the key 'host' is there twice, in line 2"],
    ],
    [
      'an OpenAPI document',
      /^[^]*$/,
      'openapi: 3.0.0\npaths: {}\n',
      ['1:10 invalid_value this is an OpenAPI document'],
    ],
  ])('%s', (_, right, wrong, expected) => {
    const findings = findingsOf(DOCUMENT.replace(right, () => wrong))
    expect(findings.map(([place]) => place)).toEqual(
      expected.map((each) => each.split(' ', 2).join(' ')),
    )
    for (const [index, each] of expected.entries())
      expect(findings[index]?.[1]).toContain(each.split(' ').slice(2).join(' '))
  })
})
