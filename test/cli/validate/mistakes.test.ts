// The mistakes that people make in documents, and what `validate` says of each: line, column, severity, code and message.

import { describe, expect, it } from '@jest/globals'
import {
  DOCUMENT,
  diagnosticsOf,
  type Mistake,
  REALM,
  withMistake,
} from '../../support/mistakes.ts'

const WITH_ROUTER = `${REALM}  router: {url: 'ws://router.test'}\n`

const EXACT =
  'where several are meant, a subscription or registration has options: {match: prefix} or {match: wildcard}'
const LAST_DOT = 'end it with the dot before, as in com.acme.'
const EMPTY_PART = 'leave a part of any text empty, as in com.acme..created'

it('the document that mistakes are put into has none', () => {
  expect(diagnosticsOf(DOCUMENT)).toEqual([])
})

describe('a name that is misspelt, or is another one here', () => {
  it.each<Mistake>([
    [
      'basepath',
      'base_path:',
      'basepath:',
      [
        "8:3 error missing_required_value 'base_path' is required here: Prefix of every path of this version. Starts with /; brackets make a segment optional: /[v1.0]. Is 'basepath' a misspelling of it?",
        "9:15 warning UnknownProperty There is no property 'basepath' here: it has no effect; did you mean 'base_path'?",
      ],
    ],
    [
      'gett',
      ' get:',
      ' gett:',
      [
        "11:7 error missing_required_value A path needs at least one method: delete, get, head, options, patch, post, put. Is 'gett' a misspelling of it?",
        "12:9 warning UnknownProperty There is no property 'gett' here: it has no effect; did you mean 'get'?",
      ],
    ],
    [
      'GET',
      ' get:',
      ' GET:',
      [
        "11:7 error missing_required_value A path needs at least one method: delete, get, head, options, patch, post, put. Is 'GET' a misspelling of it?",
        "12:9 warning UnknownProperty There is no property 'GET' here: it has no effect; did you mean 'get'?",
      ],
    ],
    [
      'GET beside get',
      '        get:',
      '        GET: {action: {type: static}}\n        get:',
      [
        "12:14 warning UnknownProperty There is no property 'GET' here: it has no effect; did you mean 'get'?",
      ],
    ],
    [
      'trace',
      '        get:',
      '        trace: {action: {type: static}}\n        get:',
      [
        "12:16 warning UnknownProperty There is no property 'trace' here: it has no effect; there are delete, get, head, options, patch, post and put",
      ],
    ],
    [
      'realmUri',
      'realm_uri:',
      'realmUri:',
      [
        "1:1 error missing_required_value 'realm_uri' is required here: The one realm that the API targets. Is 'realmUri' a misspelling of it?",
        "3:11 warning UnknownProperty There is no property 'realmUri' here: it has no effect; did you mean 'realm_uri'?",
      ],
    ],
    [
      'respones',
      'response:',
      'respones:',
      [
        "18:11 warning UnknownProperty There is no property 'respones' here: it has no effect; did you mean 'response'?",
      ],
    ],
    [
      'time_out',
      'timeout: 5000',
      'time_out: 5',
      [
        "17:23 warning UnknownProperty There is no property 'time_out' here: it has no effect; did you mean 'timeout'?",
      ],
    ],
    [
      'schema',
      'response:',
      'schema: {type: object}\n          response:',
      [
        '18:26 error invalid_value there are schemas of body, query_params, bindings, headers, result',
      ],
    ],
    [
      'cors',
      'response:',
      'cors: {origin: https://a.test}\n          response:',
      [
        "18:17 error missing_required_value 'origins' is required here: Origins of the pages: https://app.example.com, https://*.example.com for all that have labels in front of it, or '*' alone for every origin. Is 'origin' a misspelling of it?",
        "18:26 warning UnknownProperty There is no property 'origin' here: it has no effect; did you mean 'origins'?",
      ],
    ],
    [
      'rate_limit, as a block',
      'response:',
      'rate_limit:\n            a: 1\n          response:',
      [
        "18:11 error invalid_value There is no property 'rate_limit' here; did you mean 'rate_limits'? It restricts, so a misspelling is an error; it belongs to a path, an operation or defaults",
      ],
    ],
    [
      'accept',
      '        get:',
      '        accept: [application/json]\n        get:',
      [
        "12:17 error invalid_value There is no property 'accept' here; did you mean 'accepts'? It restricts, so a misspelling is an error; it belongs to a path or defaults",
      ],
    ],
    [
      'content_type',
      '        get:',
      '        content_type: application/json\n        get:',
      [
        "12:23 warning UnknownProperty There is no property 'content_type' here: it has no effect; media types are said by 'accepts' (of requests) and 'provides' (of responses) of a path",
      ],
    ],
    [
      'statusCode',
      'status_code:',
      'statusCode:',
      [
        "20:27 warning UnknownProperty There is no property 'statusCode' here: it has no effect; did you mean 'status_code'?",
      ],
    ],
    [
      'on_success',
      'on_result:',
      'on_success:',
      [
        "19:13 warning UnknownProperty There is no property 'on_success' here: it has no effect; it is called 'on_result'",
      ],
    ],
    [
      'url',
      'timeout: 5000',
      'url: http://x',
      [
        "17:18 warning UnknownProperty There is no property 'url' here: it has no effect; an upstream is said by 'host', 'path' and 'query_string' of an action of type forward",
      ],
    ],
    [
      'a key of another type of action',
      'timeout: 5000',
      'procedure: com.acme.x',
      [
        "17:24 warning UnknownProperty There is no property 'procedure' here: it has no effect; it belongs to type wamp_call, wamp_publish, wamp_subscribe, wamp_unsubscribe, wamp_register, wamp_unregister",
      ],
    ],
    [
      'security on an operation',
      'response:',
      'security: {}\n          response:',
      [
        "18:21 error invalid_value 'security' belongs to the API, a version, a path or defaults: here it would restrict nothing",
      ],
    ],
    [
      'group for groups',
      '        get:',
      '        security: {type: basic, group: [a]}\n        get:',
      [
        '12:26 warning UnsatisfiedSecurity the realm has no users: every request is rejected (401) until it has one',
        "12:40 error invalid_value There is no property 'group' here. Did you mean 'groups'? There are type, description, schemes, networks, groups, roles, scopes.",
      ],
    ],
  ])('%s', (_, right, wrong, expected) => {
    expect(diagnosticsOf(withMistake(right, wrong))).toEqual(expected)
  })
})

describe('a value that does not fit', () => {
  it.each<Mistake>([
    [
      'a time with its unit',
      'timeout: 5000',
      'timeout: 5s',
      [
        '17:22 error invalid_datatype Expected a whole number or an expression, got "5s". It is in milliseconds: write 5000.',
      ],
    ],
    [
      'seconds',
      'timeout: 5000',
      'timeout: 30',
      ['17:22 warning ShortTimeout 30 is taken as milliseconds: if seconds are meant, write 30000'],
    ],
    [
      'a time in quotes',
      'timeout: 5000',
      'timeout: "5000"',
      [
        '17:22 error invalid_datatype Expected a whole number or an expression, got "5000". Write 5000 without quotes.',
      ],
    ],
    [
      'no time at all',
      'timeout: 5000',
      'timeout: 0',
      ['17:22 error invalid_value Expected at least 1, got 0.'],
    ],
    [
      'half a millisecond',
      'timeout: 5000',
      'timeout: 1.5',
      ['17:22 error invalid_datatype Expected a whole number or an expression, got 1.5.'],
    ],
    [
      'a time of days',
      'timeout: 5000',
      'timeout: 100000000',
      ['17:22 error invalid_value Expected at most 86400000, got 100000000.'],
    ],
    [
      'a time from a variable that is none',
      'timeout: 5000',
      "timeout: '{{variables.backend}}'",
      [
        '5:12 error invalid_datatype expected a whole number, got text (for /versions/v1/paths/~1items~1:id/get/action/timeout)',
      ],
    ],
    [
      'retries below 0',
      'timeout: 5000',
      'retries: -1',
      ['17:22 error invalid_value Expected at least 0, got -1.'],
    ],
    [
      'a thousand retries',
      'timeout: 5000',
      'retries: 1000',
      ['17:22 error invalid_value Expected at most 100, got 1000.'],
    ],
    [
      'status 999',
      'status_code: 200',
      'status_code: 999',
      ['20:28 error invalid_value Expected at most 599, got 999.'],
    ],
    [
      'status in words',
      'status_code: 200',
      'status_code: bad gateway',
      [
        '20:28 error invalid_datatype Expected a whole number, a numeric text such as "404" or an expression, got "bad gateway".',
      ],
    ],
    [
      'status 2xx',
      'status_code: 200',
      'status_code: "2xx"',
      [
        '20:28 error invalid_datatype Expected a whole number, a numeric text such as "404" or an expression, got "2xx".',
      ],
    ],
    [
      'status "600"',
      'status_code: 200',
      'status_code: "600"',
      ['20:28 error invalid_value a status is a whole number from 200 to 599'],
    ],
    [
      'status 200.5',
      'status_code: 200',
      'status_code: 200.5',
      [
        '20:28 error invalid_datatype Expected a whole number, a numeric text such as "404" or an expression, got 200.5.',
      ],
    ],
    [
      'a method in upper case',
      'timeout: 5000',
      'http_method: GET',
      [
        '17:26 error invalid_value Expected one of delete, get, head, options, patch, post, put, got "GET". Did you mean "get"?',
      ],
    ],
    [
      'an unknown type of action',
      'type: forward',
      'type: statik',
      [
        '14:19 error unsupported_action_type Expected one of static, forward, …, got "statik". Did you mean "static"?',
      ],
    ],
    [
      'no type of action',
      'type: forward',
      'meta: {}',
      [
        "13:11 error missing_required_value 'type' is required here, one of static, forward, …: What kind of action this is.",
        "14:19 warning UnknownProperty There is no property 'meta' here: it has no effect",
      ],
    ],
    [
      'null',
      "host: '{{variables.backend}}'",
      'host: null',
      [
        '15:19 error invalid_datatype Expected a text, got null. Give it a value, or leave the key out: nothing behind a colon is null in YAML.',
      ],
    ],
    [
      'nothing',
      "host: '{{variables.backend}}'",
      'host:',
      [
        '15:13 error invalid_datatype Expected a text, got null. Give it a value, or leave the key out: nothing behind a colon is null in YAML.',
      ],
    ],
    [
      '~',
      "host: '{{variables.backend}}'",
      'host: ~',
      [
        '15:19 error invalid_datatype Expected a text, got null. Give it a value, or leave the key out: nothing behind a colon is null in YAML.',
      ],
    ],
    [
      'an empty text',
      "host: '{{variables.backend}}'",
      "host: ''",
      ['15:13 error invalid_value Expected a text that is not empty, got "".'],
    ],
    [
      'an expression for a whole response',
      /response:\n.*\n.*\n/,
      "response: '{{variables.limit}}'\n",
      [
        '18:21 error invalid_datatype Expected a map, got "{{variables.limit}}". An expression may stand in place of its members, not of all of it.',
      ],
    ],
    [
      'headers as a list',
      'timeout: 5000',
      'headers: [a]',
      ['17:22 error invalid_datatype Expected a map or an expression, got a list of 1 item.'],
    ],
    [
      'a header name with a blank',
      'timeout: 5000',
      "headers: {'a b': c}",
      [
        "17:30 error invalid_value this is no header name: it has letters, digits and !#$%&'*+-.^_`|~ only, no blank and no colon (RFC 9110 §5.1)",
      ],
    ],
    [
      'a header value with a line break',
      'timeout: 5000',
      'headers:\n              x-a: |\n                abc',
      [
        '18:20 error invalid_value a header value may hold no line break or control character: put it on one line, or write |- in place of |, and >- in place of >',
      ],
    ],
    [
      'accepts: xml',
      '        get:',
      '        accepts: [xml]\n        get:',
      [
        '12:19 error invalid_value Expected one of application/json, application/msgpack, application/x-www-form-urlencoded, multipart/form-data, application/*+json, text/*, */* or another media type such as image/png, got "xml".',
      ],
    ],
    [
      'accepts: json',
      '        get:',
      '        accepts: [json]\n        get:',
      [
        '12:19 error invalid_value Expected one of application/json, application/msgpack, application/x-www-form-urlencoded, multipart/form-data, application/*+json, text/*, */* or another media type such as image/png, got "json". Did you mean "application/json"?',
      ],
    ],
    [
      'accepts as a text',
      '        get:',
      '        accepts: application/json\n        get:',
      [
        '12:18 error invalid_datatype Expected a list or an expression, got "application/json". Write it as a list: ["application/json"].',
      ],
    ],
    [
      'provides: html',
      '        get:',
      '        provides: [html]\n        get:',
      [
        '12:20 error invalid_value Expected one of application/json, application/msgpack, text/html, text/plain or another media type such as image/png, got "html". Did you mean "text/html"?',
      ],
    ],
    [
      'no version',
      /versions:[^]*$/,
      'versions: {}\n',
      ['7:11 error invalid_value Expected a map of at least 1 key, got a map of 0 keys.'],
    ],
    [
      'an id that begins with _',
      'id: orders',
      'id: _orders',
      [
        '1:5 error invalid_value "_orders" does not fit here: Globally unique identifier of the API, not beginning with _. Loading it again replaces the document.',
      ],
    ],
  ])('%s', (_, right, wrong, expected) => {
    expect(diagnosticsOf(withMistake(right, wrong))).toEqual(expected)
  })
})

describe('security', () => {
  it.each<Mistake>([
    [
      'an unknown scheme',
      '        get:',
      '        security: {type: jwt}\n        get:',
      ['12:26 error invalid_value Expected one of basic, api_key, oauth2, oidc, hmac, got "jwt".'],
    ],
    [
      'a scheme in upper case',
      '        get:',
      '        security: {type: Basic}\n        get:',
      [
        '12:26 error invalid_value Expected one of basic, api_key, oauth2, oidc, hmac, got "Basic". Did you mean "basic"?',
      ],
    ],
    [
      'no scheme',
      '        get:',
      '        security: {groups: [a]}\n        get:',
      [
        "12:19 error missing_required_value 'type' is required here, one of basic, api_key, oauth2, oidc, hmac: What kind of credentials are asked for.",
      ],
    ],
    [
      'no flow',
      '        get:',
      '        security: {type: oauth2}\n        get:',
      [
        "12:19 error missing_required_value 'flow' is required here, one of implicit, authorization_code, client_credentials, resource_owner_password_credentials: OAuth 2 flow; the last two mount the token and revoke endpoints.",
      ],
    ],
    [
      'oidc in a realm without',
      '        get:',
      '        security: {type: oidc}\n        get:',
      [
        '12:26 error invalid_value oidc needs a realm whose authmethods hold oidcrp and cookie; this one lacks oidcrp and cookie',
      ],
    ],
    [
      'a scheme from a variable',
      'limit: 10',
      'limit: 10\n  s: {type: jwt}\ndefaults:\n  security: "{{variables.s}}"',
      [
        '7:13 error invalid_value expected one of basic, api_key, oauth2, oidc, hmac (for /defaults/security/type)',
      ],
    ],
    [
      'a header name with a colon',
      '        get:',
      "        security: {type: api_key, header_name: 'x-key:'}\n        get:",
      [
        '12:26 warning UnsatisfiedSecurity the realm has no API keys: every request is rejected (401) until it has one',
        '12:48 error invalid_value "x-key:" does not fit here: Name of the header that carries the key (RFC 9110 §5.1).',
      ],
    ],
  ])('%s', (_, right, wrong, expected) => {
    expect(diagnosticsOf(withMistake(right, wrong))).toEqual(expected)
  })
})

describe('paths and hosts that are served', () => {
  it.each<Mistake>([
    [
      '{id}',
      '/items/:id:',
      '/items/{id}:',
      [
        "11:7 warning TakenLiterally '{id}' is plain text here: write ':id' for a segment of any value",
        "16:45 error AlwaysFails {{request.bindings.id}} fails for every GET /v1/items/{id}: the path /v1/items/{id} has no binding 'id'; a segment is bound with a colon, as in /v1/items/:id",
      ],
    ],
    [
      '*',
      '/items/:id:',
      '/items/*:',
      [
        "11:7 warning TakenLiterally '*' is plain text here: write '[...rest]' at the end for any further segments, or ':name' for one",
        "16:45 error AlwaysFails {{request.bindings.id}} fails for every GET /v1/items/*: the path /v1/items/* has no binding 'id'; a segment is bound with a colon, as in /v1/items/:id",
      ],
    ],
    [
      'a query',
      '/items/:id:',
      '/a?b:',
      [
        "11:7 error invalid_path The path '/a?b' is invalid: a query or fragment is no part of a path: leave it out, or encode '?' as '%3F', '#' as '%23'",
      ],
    ],
    [
      ':a*',
      '/items/:id:',
      "'/:a*':",
      [
        "11:7 error invalid_path The path '/:a*' is invalid: the binding ':a*' needs a name of letters, digits, '_' and '-'; in place of ':a*' write '[...rest]' at the end for any further segments, or ':name' for one",
      ],
    ],
    [
      'a tail in the middle',
      '/items/:id:',
      "'/x/[...]/y':",
      [
        "11:7 error invalid_path The path '/x/[...]/y' is invalid: nothing may follow [...]: end the path there, or write ':name' for each segment in its place",
      ],
    ],
    [
      '/',
      '/items/:id:',
      '/:',
      [
        "11:7 error invalid_path The path '/' is invalid: it is the base path itself: write '/[index]', which serves that, and 'index' below it",
      ],
    ],
    [
      '/ws',
      '/items/:id:',
      '/ws:',
      [
        "11:7 error reserved_path The path '/ws' is reserved for WebSocket connections; choose another one",
      ],
    ],
    [
      'no slash',
      '/items/:id:',
      'items:',
      ["11:7 error invalid_path The path 'items' is invalid: it must start with '/'"],
    ],
    [
      'a binding twice',
      '/items/:id:',
      '/:id/:id:',
      [
        "11:7 error invalid_path The path '/:id/:id' is invalid: the binding ':id' occurs twice; rename one",
      ],
    ],
    [
      'the same route twice',
      '/items/:id:',
      '/items/:x:\n        get: {action: {type: static}}\n      /items/:id:',
      [
        '14:9 error conflict GET /v1/items/: is served by /versions/v1/paths/~1items~1:x/get already; change the path or the method, or make one of the two versions inactive',
      ],
    ],
    [
      'a URL as host',
      'api.test',
      'https://x',
      [
        "2:7 error invalid_value The host 'https://x' is invalid: it is a host, not a URL: leave out the scheme ('https://')",
      ],
    ],
    [
      '* in a host',
      'api.test',
      "'*.x'",
      [
        "2:7 error invalid_value The host '*.x' is invalid: write ':_' for any one label, '[...]' for any number of leading labels",
      ],
    ],
    [
      'a host with its port',
      'api.test',
      'api.test:8080',
      [
        "2:7 error invalid_value The host 'api.test:8080' is invalid: ports play no part in routing: leave out the port",
      ],
    ],
    [
      'a host with a path',
      'api.test',
      'api.test/v1',
      [
        "2:7 error invalid_value The host 'api.test/v1' is invalid: it is a host alone: the path belongs into base_path",
      ],
    ],
    [
      'an unknown realm',
      'com.acme',
      'com.nobody',
      [
        "3:12 notice RealmNotFound no Realm with uri 'com.nobody' in these files. If it is deployed elsewhere, ignore this; otherwise add it.",
      ],
    ],
    [
      'a realm that is misspelt',
      'com.acme',
      'com.acmee',
      [
        "3:12 notice RealmNotFound no Realm with uri 'com.acmee' in these files. If it is deployed elsewhere, ignore this; otherwise add it. (Nearest: 'com.acme', realm.yaml:5:8)",
      ],
    ],
    [
      'a realm in upper case',
      'com.acme',
      'com.Acme',
      [
        "3:12 notice RealmNotFound no Realm with uri 'com.Acme' in these files. If it is deployed elsewhere, ignore this; otherwise add it. (Nearest: 'com.acme', realm.yaml:5:8)",
      ],
    ],
  ])('%s', (_, right, wrong, expected) => {
    expect(diagnosticsOf(withMistake(right, wrong))).toEqual(expected)
  })
})

describe('an expression', () => {
  it.each<Mistake>([
    [
      'unknown function',
      '{{variables.backend}}',
      '{{variables.backend |> reverse}}',
      [
        "15:43 error invalid_expression {{variables.backend |> reverse}}: there is no function 'reverse'; there are integer, float, …",
      ],
    ],
    [
      'default',
      '{{variables.backend}}',
      '{{variables.backend |> default(x)}}',
      [
        "15:43 error invalid_expression {{variables.backend |> default(x)}}: there is no function 'default'; there is get(key, default), which reads a key of a map; there are integer, float, …",
      ],
    ],
    [
      'unknown root',
      'request.bindings.id',
      'req.bindings.id',
      [
        "16:28 error invalid_expression {{req.bindings.id}}: there is no 'req' to read; there are request, action, security, refusal, variables, defaults, status_codes",
      ],
    ],
    [
      'env',
      'variables.backend}',
      'env.BACKEND}',
      [
        "15:22 error invalid_expression {{env.BACKEND}}: there is no 'env' to read: variables of the environment are not read; take them from a Secret with variablesFrom",
      ],
    ],
    [
      'unknown field of the request',
      'request.bindings.id',
      'request.params.id',
      [
        "16:36 error AlwaysFails {{request.params.id}} fails for every GET /v1/items/:id: request has no 'params'; it is called bindings for the path, query_params for the query here",
      ],
    ],
    [
      'request.header',
      'request.bindings.id',
      'request.header.x',
      [
        "16:36 error AlwaysFails {{request.header.x}} fails for every GET /v1/items/:id: request has no 'header'; did you mean 'headers'?",
      ],
    ],
    [
      'request.query',
      'request.bindings.id',
      'request.query.x',
      [
        "16:36 error AlwaysFails {{request.query.x}} fails for every GET /v1/items/:id: request has no 'query'; it is called query_params here",
      ],
    ],
    [
      'request.cookies',
      'request.bindings.id',
      'request.cookies.sid',
      [
        "16:36 error AlwaysFails {{request.cookies.sid}} fails for every GET /v1/items/:id: request has no 'cookies'; it is called headers.cookie here",
      ],
    ],
    [
      'a key of a query parameter',
      'request.bindings.id',
      'request.query_params.a.b',
      [
        "16:51 error AlwaysFails {{request.query_params.a.b}} fails for every GET /v1/items/:id: request.query_params.a is a text, not a map, so it has no key 'b'",
      ],
    ],
    [
      'a key of a text',
      'request.bindings.id',
      'request.path.id',
      [
        "16:41 error AlwaysFails {{request.path.id}} fails for every GET /v1/items/:id: request.path is a text, not a map, so it has no key 'id'",
      ],
    ],
    [
      'brackets',
      'request.bindings.id',
      'request.bindings[0]',
      [
        "16:36 error AlwaysFails {{request.bindings[0]}} fails for every GET /v1/items/:id: request has no 'bindings[0]'; keys are read with a dot, as in request.bindings.name, and items of a list with nth",
      ],
    ],
    [
      'a binding that the path lacks',
      'request.bindings.id',
      'request.bindings.item_id',
      [
        "16:45 error AlwaysFails {{request.bindings.item_id}} fails for every GET /v1/items/:id: the path /v1/items/:id has no binding 'item_id'; it has 'id'",
      ],
    ],
    [
      'a binding of another version',
      '/items/:id:',
      '/items/:item:',
      [
        "16:45 error AlwaysFails {{request.bindings.id}} fails for every GET /v1/items/:item: the path /v1/items/:item has no binding 'id'; it has 'item'",
      ],
    ],
    [
      'a binding in upper case',
      'request.bindings.id',
      'request.bindings.ID',
      [
        "16:45 error AlwaysFails {{request.bindings.ID}} fails for every GET /v1/items/:id: the path /v1/items/:id has no binding 'ID'; did you mean 'id'?",
      ],
    ],
    [
      'unknown variable',
      'variables.backend}',
      'variables.backened}',
      [
        "15:32 error invalid_expression {{variables.backened}}: there is no key 'backened' in variables; did you mean 'backend'?",
      ],
    ],
    [
      'a key that a variable lacks',
      'variables.backend}',
      'variables.backend.host}',
      [
        "15:40 error invalid_expression {{variables.backend.host}}: variables.backend is text, not a map, so it has no key 'host'",
      ],
    ],
    [
      'no end',
      '{{request.bindings.id}}',
      '{{request.bindings.id',
      [
        "16:26 error invalid_expression /items/{{request.bindings.id: there is no '}}' for the '{{' (at offset 7)",
      ],
    ],
    [
      'no tag',
      '{{request.bindings.id}}',
      '{{}}',
      ['16:26 error invalid_expression /items/{{}}: the tag is empty (at offset 7)'],
    ],
    [
      'a key missing',
      'request.bindings.id',
      'request..id',
      [
        '16:36 error invalid_expression /items/{{request..id}}: a key is missing in the path (at offset 17)',
      ],
    ],
    [
      '{x}',
      '{{request.bindings.id}}',
      '{request.bindings.id}',
      [
        '16:26 warning TakenLiterally {request.bindings.id} is sent as it stands: write {{request.bindings.id}}',
      ],
    ],
    [
      '${x}',
      '{{request.bindings.id}}',
      '${request.bindings.id}',
      [
        '16:26 warning TakenLiterally ${request.bindings.id} is sent as it stands: write {{request.bindings.id}}',
      ],
    ],
    [
      'a variable of the environment',
      'http://backend.test:8080',
      '${BACKEND}',
      [
        '5:12 warning TakenLiterally ${BACKEND} is sent as it stands, as variables of the environment are not read: write {{variables.backend}}, and backend among the variables',
      ],
    ],
    [
      'a variable of a shell',
      'http://backend.test:8080',
      'http://$BACKEND:8080',
      [
        '5:19 warning TakenLiterally $BACKEND is sent as it stands, as variables of the environment are not read: write {{variables.backend}}, and backend among the variables',
      ],
    ],
    [
      ':id',
      '{{request.bindings.id}}',
      ':id',
      ["16:26 warning TakenLiterally ':id' is sent as it stands: write {{request.bindings.id}}"],
    ],
    [
      'get without an argument',
      '{{request.bindings.id}}',
      '{{request.headers |> get}}',
      [
        '16:47 error invalid_expression {{request.headers |> get}}: get takes 1 to 2 arguments, got 0: write get(key) or get(key, default)',
      ],
    ],
    [
      'with without brackets',
      '{{request.bindings.id}}',
      '{{request.headers |> with(a, b)}}',
      [
        '16:47 error invalid_expression {{request.headers |> with(a, b)}}: with takes 1 argument, got 2: write with([a, b])',
      ],
    ],
    [
      'nth of a word',
      '{{request.bindings.id}}',
      '{{request.path |> nth(a)}}',
      [
        '16:44 error AlwaysFails {{request.path |> nth(a)}} fails for every GET /v1/items/:id: nth takes a whole number as argument, not text',
      ],
    ],
    [
      'merge of a word',
      '{{request.bindings.id}}',
      '{{request.headers |> merge(abc)}}',
      [
        '16:47 error AlwaysFails {{request.headers |> merge(abc)}} fails for every GET /v1/items/:id: merge takes maps, not text: name one in a tag, as in merge({{variables.more}})',
      ],
    ],
    [
      'head of a text',
      '{{request.bindings.id}}',
      '{{variables.backend |> head}}',
      ['16:49 error invalid_expression {{variables.backend |> head}}: head takes a list, got text'],
    ],
    [
      'a pipe of other languages',
      '{{request.bindings.id}}',
      '{{request.bindings.id | string}}',
      [
        "16:45 error AlwaysFails {{request.bindings.id|string}} fails for every GET /v1/items/:id: the path /v1/items/:id has no binding 'id|string'; it has 'id'",
        "16:48 warning SuspiciousExpression /items/{{request.bindings.id | string}}: 'id|string' is read as one key: a function is applied with |>, as in {{a.b |> string}}",
      ],
    ],
    [
      'arithmetic',
      '{{request.bindings.id}}',
      '{{request.body.a + 1}}',
      [
        "16:43 warning SuspiciousExpression /items/{{request.body.a + 1}}: 'a+1' is read as one key: there is no arithmetic, and texts are joined as in {{a.b}}{{a.c}}",
      ],
    ],
    [
      'blanks in a key',
      '{{request.bindings.id}}',
      '{{request.body.first name}}',
      [
        "16:41 warning SuspiciousExpression /items/{{request.body.first name}}: blanks are left out: 'first name' is read as 'firstname', so read a key that holds blanks with get('…'), and write a text in quotes",
      ],
    ],
    [
      'a header with _',
      'request.bindings.id',
      'request.headers.Content_Type',
      [
        '16:44 warning SuspiciousExpression {{request.headers.Content_Type}}: few clients send a header of this name; did you mean request.headers.content-type?',
      ],
    ],
    [
      'a result before the action',
      'request.bindings.id',
      'action.result.body',
      [
        '16:35 error AlwaysFails {{action.result.body}} fails for every GET /v1/items/:id: action.result is there in on_result only, once the action is done',
      ],
    ],
    [
      'an error in on_result',
      'status_code: 200',
      'status_code: "{{action.error.status_code}}"',
      [
        '20:38 warning UnknownContextKey {{action.error.status_code}} can only fail: action.error is there in on_error only',
      ],
    ],
    [
      'action.result.status',
      'status_code: 200',
      'status_code: "{{action.result.status}}"',
      [
        "20:45 warning UnknownContextKey {{action.result.status}} can only fail: action.result of a forward action has no 'status'; did you mean 'status_code'?",
      ],
    ],
    [
      'action.error.reason',
      /on_result:\n.*status_code: 200/,
      'on_error:\n              body: "{{action.error.reason}}"',
      [
        "20:37 warning UnknownContextKey {{action.error.reason}} can only fail: action.error has no 'reason'; it has error_uri, message, status_code, headers, body, args, kwargs, details",
      ],
    ],
    [
      'action.response',
      'status_code: 200',
      'status_code: "{{action.response.status}}"',
      [
        "20:38 warning UnknownContextKey {{action.response.status}} can only fail: action has no 'response'; it has result (in on_result) and error (in on_error)",
      ],
    ],
    ...[
      [
        '422: 400',
        '5:8',
        "'422' is not the URI of an error, so no error gets this status; the error of an upstream is svc.error.upstream.422",
      ],
      ['200: 201', '5:8', "'200' is not the URI of an error, so no error gets this status"],
    ].map(([code = '', place, message]): Mistake => [
      `status_codes of ${code}`,
      'variables:',
      `status_codes:\n  ${code}\nvariables:`,
      [`${place} warning UnknownProperty ${message}`],
    ]),
    ...[
      ['wamp_call', 'procedure: com.*.x', '14:50', EXACT],
      ['wamp_publish', 'topic: com.acme.*', '14:49', EXACT],
      ['wamp_subscribe', 'topic: com.acme.**', '14:51', EXACT],
      ['wamp_subscribe', 'topic: com.*.x, options: {match: wildcard}', '14:51', EMPTY_PART],
      ['wamp_subscribe', 'topic: com.x.*, options: {match: prefix}', '14:51', LAST_DOT],
      ['wamp_call', 'procedure: com.a*.x', '', ''],
    ].map(([type = '', members = '', place = '', words = '']): Mistake => [
      `${type} with ${members}`,
      /action:\n[^]*$/,
      `\n            action: {type: ${type}, ${members}}\n`,
      place === '' ? [] : [`${place} warning TakenLiterally '*' is no wildcard in WAMP: ${words}`],
    ]),
    ...[
      [
        'args',
        'request.bindings.id |> integer',
        'list',
        "integer never gives one: write it as the item of a list, as in ['{{…}}']",
      ],
      [
        'kwargs',
        'request.body |> json:encode',
        'map',
        "json:encode never gives one: write it as the value of a key, as in {key: '{{…}}'}",
      ],
      ['args', 'request.body |> json:decode', '', ''],
      ['args', 'request.body |> length |> get(a)', '', ''],
    ].map(([name = '', source = '', shape = '', words = '']): Mistake => [
      `${name} of {{${source}}}`,
      /action:\n[^]*$/,
      `\n            action:\n              type: wamp_call\n              procedure: a.b\n              ${name}: '{{${source}}}'\n`,
      shape === ''
        ? []
        : [`17:${17 + name.length} warning UnsuitableValue expected a ${shape}, and ${words}`],
    ]),
    [
      'status_code of the action',
      'timeout: 5000',
      'status_code: 404',
      [
        "17:26 warning UnknownProperty There is no property 'status_code' here: it has no effect; it belongs in 'on_result' of the response, or in 'on_error'",
      ],
    ],
    [
      'arithmetic with a map in braces',
      '/items/{{request.bindings.id}}',
      "'{{variables.limit + {a: 1}}}'",
      [
        "16:32 error invalid_expression {{variables.limit + {a: 1}}: there is no key 'limit+{a:1' in variables",
        "16:38 warning SuspiciousExpression {{variables.limit + {a: 1}}}: 'limit+{a:1' is read as one key: there is no arithmetic, and texts are joined as in {{a.b}}{{a.c}}",
      ],
    ],
    [
      'security where anybody may call',
      'request.bindings.id',
      'security.authid',
      [
        '16:37 error AlwaysFails {{security.authid}} fails for every GET /v1/items/:id: security is empty, as anybody may call this: give the path a security, or read it with get and a default',
      ],
    ],
    [
      'if',
      '{{request.bindings.id}}',
      '{{if request.body}}',
      [
        "16:28 error invalid_expression {{if request.body}}: there is no 'ifrequest' to read: there is no 'if' and no loop; choose with get and a default, as in {{variables.prices |> get({{request.body.currency}}, 0)}}",
        "16:28 warning SuspiciousExpression /items/{{if request.body}}: blanks are left out: 'if request' is read as 'ifrequest', so read a key that holds blanks with get('…'), and write a text in quotes",
      ],
    ],
    [
      'an open (',
      '{{request.bindings.id}}',
      '{{request.headers |> get(a}}',
      [
        "16:50 error invalid_expression /items/{{request.headers |> get(a}}: there is no ')' for this one (at offset 31)",
      ],
    ],
    [
      'a circle',
      'backend: http://backend.test:8080',
      "backend: '{{variables.a}}'\n  a: '{{variables.b}}'\n  b: '{{variables.backend}}'",
      [
        '5:12 error invalid_expression variables.backend → variables.a → variables.b → variables.backend: these need each other in a circle; give one of them a value of its own',
      ],
    ],
  ])('%s', (_, right, wrong, expected) => {
    expect(diagnosticsOf(withMistake(right, wrong), WITH_ROUTER)).toEqual(expected)
  })
})

describe('where a request is forwarded to', () => {
  it.each<Mistake>([
    [
      'no host',
      / {12}host: .*\n/,
      '',
      [
        "13:11 error missing_required_value 'host' is required here: An action needs host, or hosts with weights.",
      ],
    ],
    [
      'host with a path',
      "'{{variables.backend}}'",
      'http://x:8080/api',
      [
        '15:19 error AlwaysFails every request fails: the host must not carry a path or query: write them as path and query_string of the action',
      ],
    ],
    [
      'host with a path, from a variable',
      'http://backend.test:8080',
      'http://backend.test/api',
      [
        '5:12 error AlwaysFails every request fails: the host must not carry a path or query: write them as path and query_string of the action',
      ],
    ],
    [
      'host with a query',
      "'{{variables.backend}}'",
      "'http://x?a=b'",
      [
        '15:19 error AlwaysFails every request fails: the host must not carry a path or query: write them as path and query_string of the action',
      ],
    ],
    [
      'ftp',
      "'{{variables.backend}}'",
      'ftp://x',
      ['15:19 error AlwaysFails every request fails: the host must be http or https'],
    ],
    [
      'ws',
      "'{{variables.backend}}'",
      'ws://x',
      ['15:19 error AlwaysFails every request fails: the host must be http or https'],
    ],
    [
      'an impossible port',
      "'{{variables.backend}}'",
      'http://x:99999',
      [
        '15:19 error AlwaysFails every request fails: the host must be [http://]host[:port], with a port from 1 to 65535',
      ],
    ],
    [
      'a user',
      "'{{variables.backend}}'",
      'http://a:b@x',
      [
        '15:19 error AlwaysFails every request fails: the host must not carry a user or password: write them as a header authorization of the action',
      ],
    ],
    [
      'IPv6 without brackets',
      "'{{variables.backend}}'",
      'http://::1:8080',
      [
        '15:19 error AlwaysFails every request fails: the host must have brackets around an IPv6 address: http://[::1]:8080',
      ],
    ],
    [
      'one slash',
      "'{{variables.backend}}'",
      'http:/x',
      [
        '15:19 error AlwaysFails every request fails: the host must have // behind its scheme: [http://]host[:port]',
      ],
    ],
    [
      'no slash',
      "'{{variables.backend}}'",
      'https:x',
      [
        '15:19 error AlwaysFails every request fails: the host must have // behind its scheme: [http://]host[:port]',
      ],
    ],
    [
      'a blank',
      "'{{variables.backend}}'",
      '"http://a b"',
      [
        '15:19 error AlwaysFails every request fails: the host must be [http://]host[:port], without blanks',
      ],
    ],
    [
      'a line break',
      "'{{variables.backend}}'",
      '|\n              http://x:8080',
      [
        '15:19 error AlwaysFails every request fails: the host must be [http://]host[:port], without a line break: put it on one line, or write |- in place of |, and >- in place of >',
      ],
    ],
    [
      'a path without a slash',
      'path: /items/',
      'path: items/',
      ['16:19 error AlwaysFails every request fails: the path must begin with a slash'],
    ],
    [
      'a path with a line break',
      'path: /items/',
      'path: >\n              /items/',
      [
        '16:19 error AlwaysFails every request fails: the path must not hold a line break: put it on one line, or write |- in place of |, and >- in place of >',
      ],
    ],
    [
      'a path with ..',
      'path: /items/{{request.bindings.id}}',
      'path: /a/../b',
      ["16:21 error AlwaysFails every request fails: the path must not have a segment '..'"],
    ],
    [
      'a path with a backslash',
      'path: /items/',
      'path: /items\\',
      [
        '16:25 error AlwaysFails every request fails: the path must not hold a backslash or control character',
      ],
    ],
    [
      'a query string with a line break',
      'timeout: 5000',
      'query_string: |\n              a=b',
      [
        '17:27 error AlwaysFails every request fails: the query string must not hold a line break: put it on one line, or write |- in place of |, and >- in place of >',
      ],
    ],
  ])('%s', (_, right, wrong, expected) => {
    expect(diagnosticsOf(withMistake(right, wrong))).toEqual(expected)
  })
})

describe('WAMP', () => {
  it.each<Mistake>([
    [
      'a URI with a blank',
      /type: forward[^]*timeout: 5000/,
      'type: wamp_call\n            procedure: com.acme add',
      [
        '15:24 error invalid_value "com.acme add" does not fit here: A WAMP URI, whose parts, separated by dots, are not empty and hold no blanks and no #; or an expression.',
      ],
    ],
    [
      'args as a map',
      /type: forward[^]*timeout: 5000/,
      'type: wamp_call\n            procedure: com.acme.add\n            args: {a: 1}',
      ['16:19 error invalid_datatype Expected a list or an expression, got a map of 1 key.'],
    ],
    [
      'no procedure',
      /type: forward[^]*timeout: 5000/,
      'type: wamp_call\n            topic: com.acme.add',
      [
        "13:11 error missing_required_value 'procedure' is required here: URI of the procedure: parts separated by dots, none empty, no blanks, no #.",
        "15:20 warning UnknownProperty There is no property 'topic' here: it has no effect; it belongs to type wamp_publish, wamp_subscribe, wamp_unsubscribe",
      ],
    ],
    [
      'a pattern without match',
      /type: forward[^]*timeout: 5000/,
      'type: wamp_subscribe\n            topic: com..add',
      [
        '15:20 error invalid_value this is no WAMP URI: its parts, separated by dots, may not be empty nor hold blanks or #',
      ],
    ],
    [
      'a short timeout among the options',
      /type: forward[^]*timeout: 5000/,
      'type: wamp_call\n            procedure: com.acme.add\n            options: {timeout: 5}',
      ['16:32 warning ShortTimeout 5 is taken as milliseconds: if seconds are meant, write 5000'],
    ],
    [
      'a URI with a line break',
      /type: forward[^]*timeout: 5000/,
      'type: wamp_call\n            procedure: |\n              com.acme.add',
      [
        '15:24 error invalid_value "com.acme.add\\n" does not fit here: A WAMP URI, whose parts, separated by dots, are not empty and hold no blanks and no #; or an expression.',
      ],
    ],
  ])('%s', (_, right, wrong, expected) => {
    expect(diagnosticsOf(withMistake(right, wrong), WITH_ROUTER)).toEqual(expected)
  })
})

describe('another kind of file', () => {
  it.each<Mistake>([
    [
      'OpenAPI',
      /^[^]*$/,
      'openapi: 3.0.0\npaths: {}\n',
      [
        '1:10 error invalid_value this is an OpenAPI document, which describes an API; an API Specification says what to do for each request: it has id, host, realm_uri and versions (examples/01-static.yaml is a small one)',
      ],
    ],
    [
      'Swagger',
      /^[^]*$/,
      'swagger: "2.0"\npaths: {}\n',
      [
        '1:10 error invalid_value this is an OpenAPI document, which describes an API; an API Specification says what to do for each request: it has id, host, realm_uri and versions (examples/01-static.yaml is a small one)',
      ],
    ],
    [
      'an Ingress',
      /^[^]*$/,
      'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\n',
      [
        '2:7 notice ForeignKind objects of kind Ingress are not read: routes of this gateway are those of an ApiSpecification (examples/02-forward.yaml is a small one). If it is for something else, ignore this',
      ],
    ],
    [
      'nothing',
      /^[^]*$/,
      '# later\n',
      ['1:1 warning EmptyFile there is nothing in this file: no document and no resource'],
    ],
    [
      'a kind that is misspelt',
      /^[^]*$/,
      'apiVersion: gateway.svc.dev/v1alpha1\nkind: ApiSpecifcation\nmetadata: {name: a}\nspec: {}\n',
      [
        "2:7 error invalid_value there is no kind 'ApiSpecifcation' in gateway.svc.dev; did you mean 'ApiSpecification'?",
      ],
    ],
    [
      'another version of our group',
      /^[^]*$/,
      'apiVersion: gateway.svc.dev/v1\nkind: ApiSpecification\nmetadata: {name: a}\nspec: {}\n',
      [
        "1:13 error invalid_value /apiVersion is 'gateway.svc.dev/v1'; write gateway.svc.dev/v1alpha1",
      ],
    ],
    [
      'a group that is misspelt',
      /^[^]*$/,
      'apiVersion: gateway.scv.dev/v1alpha1\nkind: Realm\nmetadata: {name: a}\nspec: {}\n',
      [
        "1:13 error invalid_value there is no Realm in 'gateway.scv.dev/v1alpha1'; did you mean gateway.svc.dev/v1alpha1?",
      ],
    ],
    [
      'no name',
      /^[^]*$/,
      'apiVersion: gateway.svc.dev/v1alpha1\nkind: ApiSpecification\nmetadata: {}\nspec: {}\n',
      ['3:11 error missing_required_value /metadata/name is missing'],
    ],
    [
      'a document beside kind',
      /^/,
      'kind: ApiSpecification\n',
      [
        '1:7 error missing_required_value this is a bare API Specification: put it into a resource, {apiVersion: gateway.svc.dev/v1alpha1, kind: ApiSpecification, metadata: {name}, spec: {document: …}}',
      ],
    ],
    [
      'two documents of one route',
      /$/,
      "---\nid: younger\nhost: api.test\nrealm_uri: com.acme\nvariables:\n  backend: http://backend.test:8080\n  limit: 10\nversions:\n  v1:\n    base_path: /v1\n    paths:\n      /items/:id:\n        get:\n          action:\n            type: forward\n            host: '{{variables.backend}}'\n            path: /items/{{request.bindings.id}}\n            timeout: 5000\n          response:\n            on_result:\n              status_code: 200\n",
      [
        "33:9 error conflict GET api.test/v1/items/: belongs to the API 'orders', which comes first; change the host, the path or the method",
      ],
    ],
  ])('%s', (_, right, wrong, expected) => {
    expect(diagnosticsOf(withMistake(right, wrong))).toEqual(expected)
  })
})

const NO_ROUTER = 'UnsuitableValue the realm has no router, so that every request to this fails'
const ACTION = /action:\n {12}type: forward\n(?: {12}.*\n)+/
const UNKNOWN = 'There is no property'

describe('what is valid and does something else than it seems to', () => {
  const REFUSED = 'UnsuitableValue browsers refuse'
  it.each<Mistake>([
    [
      'JSON that is put together as text',
      'timeout: 5000',
      `body: '{"title": "{{request.body.title}}"}'`,
      [
        '17:19 warning SuspiciousExpression JSON that is put together as text: values are not escaped, so that a client may add members. Write a map or list in place of the text, without the outer quotes',
      ],
    ],
    [
      'two origins',
      'versions:',
      "defaults: {headers: {access-control-allow-origin: 'https://a.test, https://b.test'}}\nversions:",
      [
        `7:51 warning ${REFUSED} a response with more than one origin: write 'cors', whose origins are a list`,
      ],
    ],
    [
      'every origin, with credentials',
      'versions:',
      "defaults: {headers: {access-control-allow-origin: '*', access-control-allow-credentials: 'true'}}\nversions:",
      [`7:51 warning ${REFUSED} '*' together with credentials: write 'cors', and name the origins`],
    ],
    [
      'a query string with its question mark',
      'timeout: 5000',
      "query_string: '?page=2'",
      [
        '17:27 warning UnsuitableValue the question mark becomes part of the name of the first parameter: leave it out',
      ],
    ],
    [
      'a binding as path',
      'path: /items/{{request.bindings.id}}',
      "path: '{{request.bindings.id}}'",
      [
        "16:19 error AlwaysFails every request fails: a path begins with a slash, and a binding has none: write '/{{request.bindings.id}}'",
      ],
    ],
    [
      'a base path that is repeated in a path',
      '      /items/:id:',
      '      /v1/items/:id:',
      [
        "11:7 warning UnsuitableValue the base_path stands in front of every path, so that clients ask for '/v1/v1/items/:id': leave '/v1' out here",
      ],
    ],
    [
      'an optional base path that is a whole path',
      /base_path: \/v1\n {4}paths:\n {6}\/items\/:id:/,
      'base_path: /[v1]\n    paths:\n      /v1/:id:',
      [
        "11:7 warning UnsuitableValue the base_path stands in front of every path, so that clients ask for '/[v1]/v1/:id': leave '/[v1]' out here",
      ],
    ],
    ['a path that only begins as the base path does', '/items/:id:', '/v10/items/:id:', []],
    [
      'retries of what is never retried',
      ACTION,
      'action: {type: static}\n          retries: 2\n',
      [
        "14:20 warning UnsuitableValue an action of type 'static' is never retried: leave this out (forward and wamp_call are)",
      ],
    ],
    ['retries of a call', 'timeout: 5000', 'retries: 2', []],
    [
      'retries that other operations have',
      /versions:[^]*action:\n {12}type: forward\n(?: {12}.*\n)+/,
      'defaults: {retries: 2}\nversions:\n  v1:\n    base_path: /v1\n    paths:\n      /items/:id:\n        get:\n          action: {type: static}\n',
      [],
    ],
    [
      'a call in a realm without a router',
      ACTION,
      'action: {type: wamp_call, procedure: com.acme.get}\n',
      [`13:19 warning ${NO_ROUTER}: add router: {url: …} to the realm`],
    ],
  ])('%s', (_, right, wrong, diagnostics) => {
    expect(diagnosticsOf(withMistake(right, wrong))).toEqual(diagnostics)
  })

  it.each([
    ['{{request.query_params.to}}', true],
    ["{{request.query_params |> get(to, '/') |> trim}}", true],
    ['{{request.query_params.to |> json:decode}}', false],
    ['{{request.body.to}}', true],
    // Each of these names a site too: //evil.test, https://evil.test, https://shop.test.evil.test.
    ['/{{request.query_params.to}}', true],
    ['https://{{request.query_params.to}}', true],
    ['https://shop.test{{request.query_params.to}}', true],
    ['//shop.test{{request.query_params.to}}', true],
    ['https://shop.test/{{request.query_params.to}}', false],
    ['//shop.test/{{request.query_params.to}}', false],
    ['/items/{{request.query_params.to}}', false],
    ['?to={{request.query_params.to}}', false],
    ['/login', false],
    ['{{action.result.headers.location}}', false],
    ['{{variables.places |> get({{request.query_params.to}})}}', false],
  ])('a location of %s is an open redirect: %j', (location, isOpen) => {
    const document = withMistake('status_code: 200', `headers: {Location: "${location}"}`).replace(
      '  limit: 10',
      '  places: {a: /a}',
    )
    const found = diagnosticsOf(document).filter((line) => line.includes('an open redirect'))
    expect(found).toHaveLength(isOpen ? 1 : 0)
  })

  it('says where an open redirect stands, and what to write', () => {
    const wrong = "headers: {location: '{{request.query_params.to}}'}"
    expect(diagnosticsOf(withMistake('status_code: 200', wrong))).toContain(
      "20:35 warning SuspiciousExpression an open redirect: a client's link through this API leads to any site that the link names. Write the site and the start of a path before the tag, as in https://shop.example.com/{{…}}, or look the value up in a map of the places there are",
    )
  })

  it('headers of on_result that replace those for browsers', () => {
    const document = withMistake('status_code: 200', 'headers: {x-a: b}').replace(
      'versions:',
      "defaults: {headers: {access-control-allow-origin: '*'}}\nversions:",
    )
    expect(diagnosticsOf(document)).toEqual([
      "21:24 warning UnsuitableValue these replace the headers of the path and the defaults, so that browsers do not get access-control-allow-origin: write 'cors' in its place, which every response has",
    ])
  })
})

describe('what stands in another form or place here', () => {
  it.each<readonly [wrong: string, right: string | RegExp, remedy: string]>([
    ['action: forward\n', ACTION, 'Write it as a map: {type: forward}.'],
    ['defaults: {security: basic}\nversions:', 'versions:', 'Write it as a map: {type: basic}.'],
    [
      "hosts: [{host: 'http://a', weight: 90%}]",
      "host: '{{variables.backend}}'",
      'Write 90, without the percent sign.',
    ],
    [
      "hosts: ['http://a']",
      "host: '{{variables.backend}}'",
      'Write it as a map: {host: http://a}.',
    ],
    [
      'action: {type: redirect}\n',
      ACTION,
      "A redirection is a static action with the header location and a 'status_code' in on_result.",
    ],
    ["host: '{{variables.h}}'", 'host: api.test', 'it takes no expression: write it out,'],
    ["base_path: '{{variables.b}}'", 'base_path: /v1', 'it takes no expression: write it out,'],
    ['realm_uri: acme', 'realm_uri: com.acme', "whose uri is 'com.acme': write that;"],
    ['on_error: {}', 'timeout: 5000', `${UNKNOWN} 'on_error' here: it has no effect; it stands in`],
    ['response: {}', 'timeout: 5000', `${UNKNOWN} 'response' here: it has no effect; it is a`],
    ['404: {body: x}', 'status_code: 200', 'to choose by the status, look it up'],
    ['/sub: {}\n        get:', 'get:', "a path is a key of 'paths'"],
    ['any: {}\n        get:', 'get:', 'write each method'],
    ['variablesFrom: []\nversions:', 'versions:', "it stands in 'spec' of the resource"],
    [
      "body: '{{request.headers.a ? b : c}}'",
      'status_code: 200',
      'there is no condition; look a value up in a map',
    ],
  ])('%s', (wrong, right, remedy) => {
    expect(diagnosticsOf(withMistake(right, wrong)).join('\n')).toContain(remedy)
  })

  it.each([
    [
      'a hash without quotes',
      '  users: [{username: a, passwordHash: $scrypt$ln=15,r=8,p=1$abc$def}]',
      'put the value before it into quotes',
    ],
    [
      'an API key of an unknown user',
      `  users: [{username: ann}]\n  apiKeys: [{keySha256: ${'a'.repeat(64)}, username: bob}]`,
      'no user of the realm has this name, so that who sends this key is in no group: correct the name',
    ],
    ['a user twice', '  users: [{username: a}, {username: a}]', 'put their groups together'],
    [
      'keys over plain http',
      '  trustedIssuers: [{issuer: https://i.test, audience: a, jwksUri: http://i.test/jwks}]',
      'signs tokens that count here: write https://',
    ],
  ])('%s', (_, line, remedy) => {
    expect(diagnosticsOf(DOCUMENT, `${REALM}${line}\n`).join('\n')).toContain(remedy)
  })
})
