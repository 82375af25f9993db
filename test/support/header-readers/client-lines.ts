// Draws header lines of a client that tries to have its own `x-user` read in place of a document's.

import fc from 'fast-check'

export type Line = readonly [name: string, value: string]

/** The name with some letters in upper case, and `_` for `-`. */
const spelling = (name: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(fc.boolean(), { minLength: name.length, maxLength: name.length }), fc.boolean())
    .map(([upper, hasUnderscore]) => {
      const letters = Array.from(name, (letter, at) =>
        upper[at] === true ? letter.toUpperCase() : letter,
      )
      return hasUnderscore ? letters.join('').replaceAll('-', '_') : letters.join('')
    })

const claim: fc.Arbitrary<Line> = fc.tuple(
  spelling('x-user'),
  // What the document sends may be what the client sends, too.
  fc.constantFrom('admin', 'ada', '', 'root, ada', 'ada, root'),
)
const connection: fc.Arbitrary<Line> = fc.tuple(
  fc.constantFrom('Connection', 'connection'),
  fc.constantFrom('X-User', 'x-user, keep-alive', 'x_user', 'keep-alive'),
)
const cookie: fc.Arbitrary<Line> = fc.tuple(
  fc.constantFrom('Cookie', 'cookie'),
  fc.constantFrom('svc_ticket_com.acme=t', 'a=1; svc_csrf_com.acme=c', 'b=2'),
)
const other: fc.Arbitrary<Line> = fc.tuple(
  fc.constantFrom('X-Users', 'X-Use', 'User', 'Accept', '__proto__', 'constructor'),
  fc.constantFrom('admin', 'x-user: admin'),
)

export const clientLines: fc.Arbitrary<readonly Line[]> = fc.array(
  fc.oneof({ arbitrary: claim, weight: 3 }, connection, cookie, other),
  { maxLength: 8 },
)

/** Headers of a forward, with variables `user` and `more`, that set `x-user` to `ada`. */
export const SETTING_USER: readonly (readonly [headers: string | object])[] = [
  ['{{request.headers |> put(X-User, {{request.bindings.user}})}}'],
  ['{{request.headers |> put(x-user, ada)}}'],
  ['{{request.headers |> put(X-USER, bob) |> put(x-user, ada) |> without([Cookie])}}'],
  ['{{request.headers |> merge({{variables.user}})}}'],
  ['{{request.headers |> without([X-user]) |> merge({{variables.user}}, _)}}'],
  ['{{variables.user |> merge({{request.headers |> without([X-user])}})}}'],
  ['{{variables.more |> merge({{variables.user}})}}'],
  [{ 'X-User': '{{request.bindings.user}}', 'x-cookie': "{{request.headers |> get(Cookie, '')}}" }],
]

export const VARIABLES = {
  user: { 'X-User': 'ada' },
  more: "{{request.headers |> put(x-all, {{request.headers |> get(X-User, '')}})}}",
}
