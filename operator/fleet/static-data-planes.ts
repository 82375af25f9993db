// Turns a list of URLs into data planes, for an operator without Kubernetes. Rejects a URL that would send credentials
// or secrets in clear over a network.

import type { DataPlane, DataPlanes } from '../data-plane.ts'

/** @throws never; a URL that may not be used is validated by `urlErrorOf` first */
export const staticDataPlanes = (urls: readonly string[]): DataPlanes => ({
  start: (onChange) => {
    onChange(urls.map((url): DataPlane => ({ name: nameOf(url), url, labels: {} })))
  },
  synced: () => true,
  stop: () => undefined,
})

/**
 * What is wrong with the URL of a data plane, in words for a person.
 * @example urlErrorOf('http://10.0.0.1:18081') // 'http is for loopback only: …'
 */
export const urlErrorOf = (text: string): string | undefined => {
  if (text.startsWith('unix:')) {
    return text.length > 'unix:'.length ? undefined : 'the path of the socket is missing'
  }
  return URL.canParse(text)
    ? URL_ERRORS.find(([applies]) => applies(new URL(text)))?.[1]
    : 'this is not a URL such as http://127.0.0.1:18081'
}

const URL_ERRORS: readonly (readonly [applies: (url: URL) => boolean, message: string])[] = [
  [
    ({ protocol }) => protocol !== 'http:' && protocol !== 'https:',
    'its scheme is not http, https or unix',
  ],
  [
    ({ username, password }) => username !== '' || password !== '',
    'a URL must not contain credentials: use --management-token-file',
  ],
  [
    ({ pathname, search, hash }) => pathname !== '/' || search !== '' || hash !== '',
    'only scheme, host and port are allowed',
  ],
  [
    ({ protocol, hostname }) => protocol === 'http:' && !isLoopback(hostname),
    'http is for loopback only, as realms carry secrets: use https with --management-ca, or a tunnel',
  ],
]

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)

const nameOf = (url: string): string => (url.startsWith('unix:') ? url : new URL(url).host)

/** The text before an @ may be a password. */
export const withoutUser = (url: string): string => url.replace(/[^/]*@/g, '…@')
