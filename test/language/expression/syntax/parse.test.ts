// What may be written, what it means, and where a fault of it is.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { isExpression, parse } from '../../../../language/expression/syntax/parse.ts'

/** The syntax in short: `[root.key |> name(args)]` for tags, text in quotes. */
const outline = (source: string): string => {
  const parsed = parse(source)
  if (!parsed.ok) return `${parsed.offset}: ${parsed.message}`
  const { ast } = parsed
  if (ast.kind === 'literal') return `literal ${ast.text}`
  if (ast.kind === 'tag') return tagOutline(ast)
  return ast.parts
    .map((part) => (typeof part === 'string' ? `'${part}'` : tagOutline(part)))
    .join(' ')
}

type Ast = Extract<ReturnType<typeof parse>, { ok: true }>['ast']
type Tag = Extract<Ast, { kind: 'tag' }>
type Argument = Tag['calls'][number]['args'][number]

const tagOutline = ({ root, keys, calls }: Tag): string =>
  `[${[[root, ...keys].join('.'), ...calls.map(({ name, args }) => `${name}(${args.map(argumentOutline).join('; ')})`)].join(' > ')}]`

const argumentOutline = (arg: Argument): string => {
  if (arg.kind === 'tag') return tagOutline(arg)
  if (arg.kind === 'brackets') return `{${arg.items.map(argumentOutline).join('; ')}}`
  return arg.kind === 'word' ? arg.text : `'${arg.text}'`
}

describe('parse', () => {
  it.each([
    ['', 'literal '],
    ['plain }} text', 'literal plain }} text'],
    ['"quoted"', 'literal "quoted"'],
    ['{{request}}', '[request]'],
    ['{{request.method}}', '[request.method]'],
    [' \t\r\n{{ request . me thod }}\n', '[request.method]'],
    ['{{request.query_params.filter[name]}}', '[request.query_params.filter[name]]'],
    ["{{request.body.it's(odd)}}", "[request.body.it's(odd)]"],
    ['{{request.body.$top}}', '[request.body.$top]'],
    ['{{request.body.grüße🎉}}', '[request.body.grüße🎉]'],
    ['{{request.body.constructor.__proto__}}', '[request.body.constructor.__proto__]'],
    ['x{{a}}', "'x' [a]"],
    ['{{a}}}', "[a] '}'"],
    ['{"n": {{a}}}', `'{"n": ' [a] '}'`],
    ['{{a}}{{b}}', '[a] [b]'],
    ['{{a}} {{b}}', "[a] ' ' [b]"],
    ['{{a}} }}', "[a] ' }}'"],
    ['"{{a}}"', '[a]'],
    ['"{{a}}" "{{b}}"', `[a] '" "' [b]`],
    [' "{{a}}"', `' "' [a] '"'`],
    ['"x {{a}}', `'"x ' [a]`],
    ['{{a |> f}}', '[a > f()]'],
    ['{{a|>f()|>base64 : encode( )}}', '[a > f() > base64:encode()]'],
    ['{{a | > f}}', '[a > f()]'],
    ['{{a |> get(b, 500)}}', '[a > get(b; 500)]'],
    ['{{a |> get(two words)}}', '[a > get(twowords)]'],
    ['{{a |> get(x.y)}}', '[a > get(x.y)]'],
    ["{{a |> get( ' a, b ' , '')}}", "[a > get(' a, b '; '')]"],
    ["{{a |> get('{{b}} |> c')}}", "[a > get('{{b}} |> c')]"],
    ['{{a |> get({{b.c}}, {{d}})}}', '[a > get([b.c]; [d])]'],
    ['{{a |> get({{b |> f(c)}})}}', '[a > get([b > f(c)])]'],
    ['"x {{a |> get({{b}})}} y"', "'x ' [a > get([b])] ' y'"],
    ["{{a |> with([b, 'c d', {{e}}])}}", "[a > with({b; 'c d'; [e]})]"],
    ['{{a |> with([])}}', '[a > with({})]'],
    ['{{a |> merge(_, $map)}}', '[a > merge(_; $map)]'],
  ])('%j is %s', (source, expected) => {
    expect(outline(source)).toBe(expected)
  })

  it.each([
    ['{{', "0: there is no '}}' for the '{{'"],
    ['{{a', "0: there is no '}}' for the '{{'"],
    ['x {{a.', "2: there is no '}}' for the '{{'"],
    ['{{a {{b}}', "0: there is no '}}' for the '{{'"],
    ['"{{a"', "1: there is no '}}' for the '{{'"],
    ['{{a} }', "0: there is no '}}' for the '{{'"],
    ['{{}}', '0: the tag is empty'],
    ['x{{  }}', '1: the tag is empty'],
    ['{{.a}}', '2: a key is missing in the path'],
    ['{{a..b}}', '4: a key is missing in the path'],
    ['{{a.}}', '4: a key is missing in the path'],
    ['{{ |> f}}', '3: a key is missing in the path'],
    ['{{a |> }}', "7: a function is missing after '|>'"],
    ['{{a |> |> f}}', "7: a function is missing after '|>'"],
    ['{{a |> (b)}}', "7: a function is missing after '|>'"],
    ['{{a |> f(}}', "9: an argument is missing ('' is the empty text)"],
    ['{{a |> f(b}}', "8: there is no ')' for this one"],
    ['{{a |> f(b', "8: there is no ')' for this one"],
    ['{{a |> f([b)}}', "9: there is no ']' for this one"],
    ['{{a |> f(b,)}}', "11: an argument is missing ('' is the empty text)"],
    ['{{a |> f(,b)}}', "9: an argument is missing ('' is the empty text)"],
    ["{{a |> f('b)}}", "9: there is no closing ' for this one"],
    ["{{a |> f('b'c)}}", "12: expected ',' or ')' after an argument"],
    ['{{a |> f(b{{c}})}}', "10: expected ',' or ')' after an argument"],
    ['{{a |> f(b |> g)}}', "11: expected ',' or ')' after an argument"],
    ['{{a |> f([[b]])}}', "13: expected ',' or ')' after an argument"],
    ['{{a |> f(b) c}}', "0: there is no '}}' for the '{{'"],
    [`"{{a |> f('b)}}"`, "10: there is no closing ' for this one"],
  ])('%j: %s', (source, expected) => {
    expect(outline(source)).toBe(expected)
  })

  const nested = (levels: number): string =>
    '{{a |> f('.repeat(levels - 1) + '{{a}}' + ')}}'.repeat(levels - 1)

  it.each([
    [64, true],
    [65, false],
    [6000, false],
  ])('tags nested %i levels deep: accepted %s', (levels, accepted) => {
    expect(parse(nested(levels)).ok).toBe(accepted)
  })

  it('keeps each tag as it was written', () => {
    const parsed = parse('"a {{ b |> f( {{c}} ) }} d"')
    const parts = parsed.ok && parsed.ast.kind === 'text' ? parsed.ast.parts : []
    expect(parts[1]).toMatchObject({ source: '{{ b |> f( {{c}} ) }}', offset: 3 })
  })
})

/** Strings made of what means something. */
const syntax = fc
  .array(
    fc.constantFrom(
      ...'{{ }} { } |> | > . , ( ) [ ] \' " _ $map a get with request \n'.split(' '),
      ' ',
    ),
    { maxLength: 60 },
  )
  .map((tokens) => tokens.join(''))

describe('parse, whatever it is given', () => {
  it('never throws, and faults lie within the string', () => {
    fc.assert(
      fc.property(fc.oneof(syntax, fc.string({ unit: 'binary', maxLength: 200 })), (source) => {
        const parsed = parse(source)
        if (parsed.ok) return
        expect(parsed.offset).toBeGreaterThanOrEqual(0)
        expect(parsed.offset).toBeLessThanOrEqual(source.length)
        expect(parsed.message).not.toBe('')
      }),
      { numRuns: 2000 },
    )
  })

  it('loses nothing: literals and tags put together are the string', () => {
    fc.assert(
      fc.property(syntax, (source) => {
        const parsed = parse(source)
        if (!parsed.ok || parsed.ast.kind !== 'text') return
        const text = parsed.ast.parts
          .map((part) => (typeof part === 'string' ? part : part.source))
          .join('')
        expect([text, `"${text}"`]).toContain(source)
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    '{{',
    '{',
    '{{a|>f(',
    "{{a|>f('",
    '|',
    '{{a|',
    ' ',
    '{{a ',
    '{{a |> f([',
    'a}}',
    "'",
    '{{a}} ',
  ])('2 MiB of %j take no longer than reading them a few times', (piece) => {
    const source = '{{' + piece.repeat(Math.ceil((2 * 1024 * 1024) / piece.length))
    const start = performance.now()
    parse(source)
    // Linear takes some 50 ms; quadratic would take hours.
    expect(performance.now() - start).toBeLessThan(20_000)
  })
})

describe('isExpression', () => {
  it.each([
    ['a', false],
    ['{ {', false],
    ['}}', false],
    ['a {{', true],
  ])('%j: %s', (source, expected) => {
    expect(isExpression(source)).toBe(expected)
  })
})

describe('what is read otherwise than it looks', () => {
  const remark = (source: string): string | undefined => {
    const parsed = parse(source)
    return parsed.ok ? parsed.remark?.message : 'a fault'
  }

  it.each([
    ['{{request.body.a b}}', "blanks are left out: 'a b' is read as 'ab'"],
    ['{{request.body |> get(a, not found)}}', "'not found' is read as 'notfound'"],
    ['{{request.body |> with([a b])}}', "'a b' is read as 'ab'"],
    ['{{x.y | string}}', "'y|string' is read as one key: a function is applied with |>"],
    ['{{x.y|string}}', "'y|string' is read as one key"],
    ['{{request.body.a + 1}}', "'a+1' is read as one key: there is no arithmetic"],
    ['{{request.body.a+1}}', 'there is no arithmetic'],
    ['n {{a.b}} {{c.d e}}', "'d e'"],
    [`{{a.${'x '.repeat(10_000)}}}`, '…'],
  ])('%s', (source, words) => {
    expect(remark(source)).toContain(words)
    expect(remark(source)?.length).toBeLessThan(250)
  })

  it.each([
    ['{{ request . body . a }}'],
    ['{{request.body |> get( a , b ) |> head}}'],
    ["{{request.body |> get(a, 'not found')}}"],
    ['{{request.body.content-type}}'],
    ['{{request.body\n  |> get(a)\n}}'],
    ['{{request.body |> get(a+b)}}'],
    ['a b + c | d'],
  ])('is nothing of %j', (source) => {
    expect(remark(source)).toBeUndefined()
  })
})
