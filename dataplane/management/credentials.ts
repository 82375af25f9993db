// Decides who may use the management API (behaviour §8). It compares tokens and certificates, and never shows them.

import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { TLSSocket } from 'node:tls'
import type { Log } from '../../telemetry/log.ts'
import type { Authorize } from '../../web/browser-access.ts'

/** For a Unix socket, where the permissions of its file decide. */
export const allowAll: Authorize = () => true

const REALM = 'Bearer realm="management"'

/**
 * RFC 6750. `tokens` is called for each request, so that a changed file takes effect immediately. All of them are
 * compared, each in constant time.
 */
export const bearerAuthorizer =
  (tokens: () => readonly string[]): Authorize =>
  (req) => {
    const [, token] = /^bearer +(\S+) *$/i.exec(req.headers.authorization ?? '') ?? []
    if (token === undefined) return { status: 401, headers: { 'www-authenticate': REALM } }
    const given = digest(token)
    let isKnown = false
    for (const candidate of tokens()) if (timingSafeEqual(given, digest(candidate))) isKnown = true
    if (isKnown) return true
    return { status: 401, headers: { 'www-authenticate': `${REALM}, error="invalid_token"` } }
  }

/**
 * Mutual TLS: the listener must have asked for a certificate (`requestCert`) and trust its issuer. The
 * name must be one of its DNS names (SAN), or its common name where it has none (RFC 9525 for the former).
 * No wildcards.
 */
export const clientCertificateAuthorizer =
  (name: string): Authorize =>
  ({ socket }) => {
    if (!(socket instanceof TLSSocket) || !socket.authorized) return { status: 401, headers: {} }
    const certificate = socket.getPeerX509Certificate()
    const isNamed =
      // A leading dot would match any name below it.
      !name.startsWith('.') &&
      certificate?.checkHost(name, { subject: 'default', wildcards: false }) !== undefined
    return isNamed ? true : { status: 403, headers: {} }
  }

export interface TokenFile {
  tokens(): readonly string[]
  /** Reads the file now instead of after the next interval. */
  refresh(): Promise<void>
  close(): void
}

export interface TokenFileOptions {
  readonly path: string
  readonly log: Log
  /** How often the file is read; if left out, 1000. */
  readonly everyMs?: number
}

const MAX_FILE_BYTES = 64 * 1024

/**
 * Reads a file of tokens, one a line, once a second. While there is no file yet, every call is rejected; if the file
 * is removed, its last tokens stay valid, so that a rotation in two steps locks no client out.
 */
export const openTokenFile = async (options: TokenFileOptions): Promise<TokenFile> => {
  const { path, log, everyMs = 1000 } = options
  let text: string | undefined
  let tokens: readonly string[] = []
  let isUnreadable = false
  const refresh = async (): Promise<void> => {
    try {
      const bytes = await readFile(path)
      isUnreadable = false
      const next = bytes.subarray(0, MAX_FILE_BYTES).toString()
      if (next === text) return
      text = next
      tokens = linesOf(next)
      if (tokens.length > 0)
        log.info('management tokens were read', { file: path, count: tokens.length })
      else
        log.warn('the file of management tokens is empty: all calls are rejected', { file: path })
    } catch (error) {
      if (!isUnreadable) log.warn('the management tokens cannot be read', { file: path, error })
      isUnreadable = true
    }
  }
  await refresh()
  const timer = setInterval(() => void refresh(), everyMs)
  timer.unref()
  return {
    tokens: () => tokens,
    refresh,
    close: () => {
      clearInterval(timer)
    },
  }
}

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
