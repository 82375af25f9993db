// Renders the few pages that a person sees at the provider as HTML; all inserted text is escaped.

import type { IdpUser } from './accounts.ts'

/** @param hint a name that the client suggests @param isUnknown whether the last name was unknown */
export const loginPage = (
  users: readonly IdpUser[],
  { hint, isUnknown }: { readonly hint: string; readonly isUnknown: boolean },
): string =>
  page(
    'Log in',
    `<form method="post">
      <label for="login">Name</label>
      <input id="login" name="login" value="${escape(hint)}" autocomplete="username" autofocus required>
      <label for="password">Password</label>
      <input id="password" name="password" type="password" placeholder="anything will do" autocomplete="off">
      ${isUnknown ? '<p class="fault" role="alert">There is no user of this name.</p>' : ''}
      <button>Log in</button>
    </form>
    <p>Known here: ${users.map(({ username }) => `<b>${escape(username)}</b>`).join(', ')}.</p>`,
  )

/** @param form of the library, which carries what it needs */
export const logoutPage = (form: string): string =>
  page(
    'Log out',
    `${form}
    <input type="hidden" name="logout" value="yes" form="op.logoutForm">
    <button form="op.logoutForm">Log out here too</button>
    <script>document.getElementById('op.logoutForm').submit()</script>`,
  )

export const loggedOutPage = (): string => page('Logged out', '<p>See you soon.</p>')

export const errorPage = (error: string, description: string): string =>
  page('That did not work', `<p class="fault">${escape(error)}: ${escape(description)}</p>`)

const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <link rel="icon" href="data:,">
  <title>${title} · playground identity provider</title>
  <style>
    body { font: 16px/1.5 system-ui, sans-serif; color: #1d2433; background: #eef1f6; margin: 0; }
    main { max-width: 22rem; margin: 12vh auto; padding: 2rem; background: #fff; border-radius: 12px;
      box-shadow: 0 8px 30px rgb(29 36 51 / 12%); }
    h1 { font-size: 1.4rem; margin: 0 0 1rem; }
    label { display: block; font-size: .85rem; margin-top: .8rem; }
    input:not([type=hidden]) { box-sizing: border-box; width: 100%; font: inherit; padding: .5rem .6rem;
      border: 1px solid #b8c0cf; border-radius: 6px; }
    button { margin-top: 1.2rem; width: 100%; font: inherit; padding: .6rem; color: #fff;
      background: #2a5bd7; border: 0; border-radius: 6px; cursor: pointer; }
    p { font-size: .85rem; color: #566074; }
    .fault { color: #b3261e; }
    small { display: block; margin-top: 1.5rem; color: #8a93a6; }
  </style>
</head>
<body>
  <main>
    <h1>${title}</h1>
    ${body}
    <small>An identity provider for trying things out. It asks for no password.</small>
  </main>
</body>
</html>
`

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])

const escape = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES.get(character) ?? '')
