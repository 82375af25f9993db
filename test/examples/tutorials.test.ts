// Runs getting-started.md and the tutorials that need no cluster, line by line, as a reader does. Those of a cluster are
// run by test/component/kubernetes/tutorials.test.ts.

import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, jest } from '@jest/globals'
import { startPlayground } from '../../dev/playground.ts'
import { ANY_PORTS } from '../../dev/ports.ts'
import { freePort } from '../support/free-port.ts'
import { authorize, Browser, type Page } from '../support/login-driver.ts'
import { textOf } from '../support/pages.ts'
import { runTutorial, stepsOf } from '../support/tutorial.ts'
import { canSend, EXAMPLES } from './try-lines.ts'

jest.setTimeout(120_000)

/** Where the page leaves out the defaults of `svc serve`. */
const programsAt = (ports: Readonly<Record<string, number>>): Readonly<Record<string, string>> => ({
  SVC_SERVE_PUBLIC: `127.0.0.1:${String(ports['18080'])}`,
  SVC_SERVE_MANAGEMENT: `127.0.0.1:${String(ports['18081'])}`,
  SVC_SERVE_STATUS: `127.0.0.1:${String(ports['18085'])}`,
  SVC_MOCK_PORT: String(ports['18070']),
})

const freePorts = async (...ports: readonly string[]): Promise<Readonly<Record<string, number>>> =>
  Object.fromEntries(
    await Promise.all(ports.map(async (port) => [port, await freePort()] as const)),
  )

/** test/cli/package.test.ts packs and installs them. */
const isInstallation = (command: string): boolean => command.startsWith('npm ')

const portOf = (url: string): number => Number(new URL(url).port)

/** A playground with its examples, in whose directory the reader works. */
const inPlayground = async (
  page: string,
  openPage: (url: string, text: string) => Promise<void>,
): Promise<readonly string[]> => {
  await using playground = await startPlayground({
    ports: ANY_PORTS,
    examples: EXAMPLES,
    onLine: () => undefined,
  })
  const { urls, manifests } = playground
  const ports = {
    18080: portOf(urls.public),
    18081: portOf(urls.management),
    18091: portOf(urls.router),
    18092: portOf(urls.idp),
  }
  return await runTutorial(textOf(page), {
    ports,
    openPage,
    prepare: (directory) => symlink(manifests.path, join(directory, 'examples')),
  })
}

if (!canSend()) process.stderr.write('skipped: there is no curl to try the tutorials with\n')
const describeTutorials = canSend() ? describe : describe.skip

describeTutorials('tutorials', () => {
  it.each([
    'docs/getting-started.md',
    'docs/tutorials/http-api-key.md',
    'docs/tutorials/contract.md',
  ])('%s works', async (page) => {
    const ports = await freePorts('18070', '18080', '18081', '18085', '9000')
    const text = textOf(page)
    expect(stepsOf(text).length).toBeGreaterThan(8)
    const options = { ports, environment: programsAt(ports), isNotHere: isInstallation }
    expect(await runTutorial(text, options)).toEqual([])
  })

  it('docs/tutorials/wamp-rest.md works', async () => {
    const openPage = (url: string): Promise<void> => Promise.reject(new Error(`a page: ${url}`))
    expect(await inPlayground('docs/tutorials/wamp-rest.md', openPage)).toEqual([])
  })

  describe('docs/tutorials/login.md', () => {
    /** The script of the page, run as its browser runs it. */
    const responseOfScript = async (
      browser: Browser,
      page: URL,
      csrf: string | undefined,
    ): Promise<Page> =>
      browser.visit(new URL('/my/portal/notes', page), {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(csrf === undefined ? {} : { 'x-csrf-token': csrf }),
        },
        body: JSON.stringify({ text: 'hello' }),
        from: page,
        isFetch: true,
      })

    const csrfOf = (browser: Browser, url: URL): string | undefined =>
      /svc_csrf_com\.example=([^;]+)/.exec(
        browser.jar.header({ url, method: 'GET', isSameSite: true }) ?? '',
      )?.[1]

    const logInAs = async (name: string, url: string): Promise<[Browser, Page]> => {
      const browser = new Browser()
      const callback = await authorize(browser, url, name)
      const page = await browser.follow(callback)
      if (page instanceof URL) throw new Error('no page')
      return [browser, page]
    }

    it('works, with what a person does in a browser', async () => {
      const seen: unknown[] = []
      const openPage = async (url: string): Promise<void> => {
        const [alice, page] = await logInAs('alice', url)
        expect(page).toMatchObject({ status: 200, text: expect.stringContaining('Hello alice.') })
        const saved = await responseOfScript(alice, page.url, csrfOf(alice, page.url))
        expect([saved.status, JSON.parse(saved.text)]).toEqual([
          200,
          { saved: { text: 'hello' }, by: 'alice' },
        ])
        const refused = await responseOfScript(alice, page.url, undefined)
        expect([refused.status, refused.text]).toEqual([
          403,
          expect.stringContaining('csrf_validation_failed'),
        ])
        const [bob, his] = await logInAs('bob', url)
        const forbidden = await responseOfScript(bob, his.url, csrfOf(bob, his.url))
        expect([forbidden.status, forbidden.text]).toEqual([
          403,
          expect.stringContaining('svc.error.forbidden'),
        ])
        const out = await alice.visit(new URL('/my/oidc/logout?redirect_uri=/my/portal', page.url))
        expect(out.status).toBe(302)
        const again = await alice.visit(url)
        expect(again.location?.pathname).toBe('/my/oidc/login')
        seen.push(url)
      }
      expect(await inPlayground('docs/tutorials/login.md', openPage)).toEqual([])
      expect(seen).toHaveLength(1)
    })
  })
})
