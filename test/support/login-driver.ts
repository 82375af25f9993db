// Walks through a login as a browser does, without one: redirects, forms, cookies, fetch metadata. Origins that
// exist on paper only are led to where their servers listen.

import { CookieJar } from './login-driver-jar.ts'
import { request } from './http-request.ts'

export interface BrowserOptions {
  /** `https://api.example.com` → `http://127.0.0.1:41234`; `Host` stays the first. */
  readonly routes?: Readonly<Record<string, string>>
  /** Sec-Fetch headers, as every browser sends them; a command line client sends none. */
  readonly hasFetchMetadata?: boolean
}

export interface Page {
  readonly url: URL
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly setCookies: readonly string[]
  readonly text: string
  /** Where it redirects to. */
  readonly location: URL | undefined
}

export interface Visit {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The page that leads there; none: typed by hand. */
  readonly from?: URL
  /** Of a script on a page, not a page itself. */
  readonly isFetch?: boolean
  readonly timeoutMs?: number
}

const MAX_REDIRECTS = 20

export class Browser {
  readonly jar = new CookieJar()
  readonly #routes: Map<string, string>
  readonly #hasFetchMetadata: boolean

  constructor({ routes = {}, hasFetchMetadata = true }: BrowserOptions = {}) {
    this.#routes = new Map(Object.entries(routes))
    this.#hasFetchMetadata = hasFetchMetadata
  }

  /** From now on: as a balancer does, or a restart. */
  route(origin: string, to: string): void {
    this.#routes.set(origin, to)
  }

  /** One request; cookies are sent and kept, redirects are not followed. */
  async visit(target: URL | string, visit: Visit = {}): Promise<Page> {
    const url = new URL(target)
    const { method = 'GET', body, headers = {}, timeoutMs = 20_000 } = visit
    const base = this.#routes.get(url.origin) ?? url.origin
    const response = await request(`${base}${url.pathname}${url.search}`, {
      method,
      headers: { host: url.host, ...this.#ownHeaders(url, method, visit), ...headers },
      ...(body === undefined ? {} : { body }),
      timeoutMs,
    })
    const setCookies = response.headers['set-cookie'] ?? []
    this.jar.keep(url, setCookies)
    const { location } = response.headers
    return {
      url,
      status: response.status,
      headers: response.headers,
      setCookies,
      text: response.text,
      location:
        response.status >= 300 && response.status < 400 && location !== undefined
          ? new URL(location, url)
          : undefined,
    }
  }

  /** Follows redirects up to a page, or to one that `until` names: that one is not asked for. */
  async follow(
    target: URL | string,
    until: (url: URL) => boolean = () => false,
    visit: Visit = {},
  ): Promise<Page | URL> {
    let page = await this.visit(target, visit)
    for (let count = 0; page.location !== undefined; count += 1) {
      if (count === MAX_REDIRECTS) throw new Error(`more than 20 redirects from ${String(target)}`)
      if (until(page.location)) return page.location
      page = await this.visit(page.location, { from: visit.from ?? page.url })
    }
    return page
  }

  /** Sends the form of a page with these fields filled in, and follows. */
  submit(
    page: Page,
    fields: Readonly<Record<string, string>>,
    until?: (url: URL) => boolean,
  ): Promise<Page | URL> {
    const form = readForm(page)
    const values = new URLSearchParams({ ...form.fields, ...fields }).toString()
    return this.follow(form.action, until, {
      method: 'POST',
      body: values,
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: page.url.origin },
      from: page.url,
    })
  }

  #ownHeaders(url: URL, method: string, { from, isFetch = false }: Visit): Record<string, string> {
    const site = siteOf(from, url)
    const cookie = this.jar.header({ url, method, isSameSite: site !== 'cross-site' })
    return {
      ...(cookie === undefined ? {} : { cookie }),
      ...(this.#hasFetchMetadata
        ? {
            'sec-fetch-site': site,
            'sec-fetch-mode': isFetch ? 'cors' : 'navigate',
            'sec-fetch-dest': isFetch ? 'empty' : 'document',
          }
        : {}),
    }
  }
}

/** Registrable domains are their last two labels here; an address is a site of its own. */
const siteOf = (from: URL | undefined, to: URL): string => {
  if (from === undefined) return 'none'
  if (from.origin === to.origin) return 'same-origin'
  const domain = ({ protocol, hostname }: URL): string =>
    `${protocol}${/^[\d.]+$/.test(hostname) ? hostname : hostname.split('.').slice(-2).join('.')}`
  return domain(from) === domain(to) ? 'same-site' : 'cross-site'
}

interface Form {
  readonly action: URL
  readonly fields: Readonly<Record<string, string>>
}

const readForm = ({ url, text, status }: Page): Form => {
  const tag = /<form\b[^>]*>/i.exec(text)?.[0]
  if (tag === undefined)
    throw new Error(`no form at ${url.href} (${status}): ${text.slice(0, 500)}`)
  const inputs = [...text.matchAll(/<input\b[^>]*>/gi)].map(([input]) => input)
  return {
    action: new URL(attributeOf(tag, 'action') ?? url.href, url),
    fields: Object.fromEntries(
      inputs.flatMap((input) => {
        const name = attributeOf(input, 'name')
        return name === undefined ? [] : [[name, attributeOf(input, 'value') ?? '']]
      }),
    ),
  }
}

const attributeOf = (tag: string, name: string): string | undefined =>
  new RegExp(`\\s${name}="([^"]*)"`, 'i').exec(tag)?.[1]?.replaceAll('&amp;', '&')

/** A callback of any provider. */
const isCallback = ({ pathname }: URL): boolean => /\/oidc\/[^/]+\/callback$/.test(pathname)

/**
 * From the login endpoint to where the provider sends the browser back to, which is not asked for yet.
 * @throws Error that shows the page it ended at
 */
export const authorize = async (
  browser: Browser,
  loginUrl: URL | string,
  username: string,
): Promise<URL> => {
  const start = await browser.follow(loginUrl, isCallback)
  if (start instanceof URL) return start
  const end = await browser.submit(start, { login: username, password: 'any' }, isCallback)
  if (end instanceof URL) return end
  throw new Error(`no callback, but ${end.url.href} (${end.status}): ${end.text.slice(0, 500)}`)
}

/** The whole login; the response of the callback. */
export const logIn = async (
  browser: Browser,
  loginUrl: URL | string,
  username: string,
): Promise<Page> => {
  const callback = await authorize(browser, loginUrl, username)
  return browser.visit(callback, { from: new URL('http://127.0.0.1/interaction') })
}
