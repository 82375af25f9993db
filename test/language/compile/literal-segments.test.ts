import { describe, expect, it } from '@jest/globals'
import { literalBinding, literalSegment } from '../../../language/compile/literal-segments.ts'

const REST = "'[...rest]' at the end for any further segments, or ':name' for one"

const one = (name: string): string => `':${name}' for a segment of any value`

const noRegularExpression = (name: string): string =>
  `${one(name)}: there are no regular expressions`

const whole = (name: string): string => `a binding as a whole segment, such as ':${name}'`

describe('a segment of a path that another gateway would read, and this one does not', () => {
  it.each([
    ['{id}', one('id')],
    ['{id:int}', one('id')],
    ['{id:[0-9]+}', one('id')],
    [String.raw`{id:\d{4}}`, one('id')],
    ['{name=*}', one('name')],
    ['<id>', one('id')],
    ['<int:id>', one('id')],
    [String.raw`<id:\d+>`, one('id')],
    ['{a b}', one('name')],
    ['[{id}]', one('id')],
    ['*', REST],
    ['**', REST],
    ['*rest', REST],
    ['{proxy+}', REST],
    ['{path+}', REST],
    ['{rest...}', REST],
    ['{rest*}', REST],
    ['{*rest}', REST],
    ['{**catch-all}', REST],
    ['{rest=**}', REST],
    ['{rest:path}', REST],
    ['{rest:.*}', REST],
    ['<path:rest>', REST],
    [':rest*', REST],
    [':rest+', REST],
    [':rest(.*)', REST],
    [':rest{.+}', REST],
    ['.*', REST],
    ['(.*)', REST],
    ['(?<rest>.*)', REST],
    [':id?', "'[:id]' for a segment that may be missing"],
    ['{id?}', "'[:id]' for a segment that may be missing"],
    [String.raw`:id(\d+)`, noRegularExpression('id')],
    [':id([0-9]+)', noRegularExpression('id')],
    [':id{[0-9]+}', noRegularExpression('id')],
    [':id<int>', noRegularExpression('id')],
    [String.raw`(\d+)`, noRegularExpression('name')],
    [String.raw`(?<id>\d+)`, noRegularExpression('id')],
    [String.raw`(?P<id>\d+)`, noRegularExpression('id')],
    ['([0-9]+)', noRegularExpression('name')],
    [String.raw`\d+`, noRegularExpression('name')],
    ['^orders$', noRegularExpression('name')],
    ['orders.*', noRegularExpression('name')],
    ['{id}.json', "':id.json'"],
    ['{id}:cancel', "':id:cancel'"],
    ['{id:int}.json', "':id.json'"],
    ['{lat},{lon}', "':lat,:lon'"],
    ['v{version}', whole('version')],
    ['<id>.json', "':id.json'"],
    ['{name=shelves', whole('name')],
    ['Products({id})', "'Products(:id)'"],
    ["Products('{id}')", "'Products(':id')'"],
    ['Products(key)', "'Products(:key)'"],
    ["Products('key')", "'Products(':key')'"],
    ['(key)', "'(:key)'"],
  ])('%s', (segment, remedy) => {
    expect(literalSegment(`/items/${segment}`)).toEqual({ segment, remedy })
  })

  it.each<[string, 'path' | 'base_path']>([
    ['/items/*/x', 'path'],
    ['/items/*', 'base_path'],
  ])('no tail where none may stand: %s as %s', (pattern, place) => {
    expect(literalSegment(pattern, place)).toEqual({ segment: '*', remedy: one('name') })
  })

  it.each([
    ':id',
    ':user-id',
    ':from-',
    '[:id]',
    '[...]',
    '[...slug]',
    '[[...slug]]',
    ':id.json',
    ':id:cancel',
    ':lat,:lon',
    'Products(:id)',
    '[x]',
    '{}',
    '()',
    'getItems()',
    'a*b',
    'c++',
    'a+b',
    'a.b',
    '...',
    '$count',
    '@me',
    '~user',
    'things:batchGet',
    '!room:server',
    'Mercury_(planet)',
    'x(1)',
    '%7Bid%7D',
    ':größe',
    '{'.repeat(100_000),
    `:a${'-'.repeat(100_000)}`,
  ])('not %#', (segment) => {
    expect(literalSegment(`/items/${segment}`)).toBeUndefined()
  })
})

describe('a segment of a path to an upstream that is written as a binding', () => {
  it.each([
    ['/v2/:id', ':id'],
    ['/v2/{id}/x', '{id}'],
    ['/v2/{id:int}', '{id:int}'],
    ['/v2/<int:id>', '<int:id>'],
    ['/v2/{id}.json', '{id}.json'],
    ['/v2/:id.json', ':id.json'],
    ['/v2/:id:cancel', ':id:cancel'],
  ])('%s', (path, segment) => {
    const message = `'${segment}' is sent as it stands: write {{request.bindings.id}}`
    expect(literalBinding(path, ['id'])).toEqual({ segment, message })
  })

  it.each(['/v2/:other', '/v2/id', '/v2/:ids', '/v2/:id-x', '/v2/{ids}'])('not %s', (path) => {
    expect(literalBinding(path, ['id'])).toBeUndefined()
  })
})
