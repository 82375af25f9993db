// Starts a browser as people have it, or says why there is none. The errors that a page logs are kept.

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { env } from 'node:process'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { type Availability, onlyInTestAll } from './availability.ts'

/** The first that can be run: where Debian puts it, `chromium` on PATH, `CHROMIUM`. */
const findChromium = (): string | undefined => {
  const onPath = (env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'chromium'))
  return ['/usr/bin/chromium', ...onPath, env['CHROMIUM'] ?? ''].find(isProgram)
}

const isProgram = (path: string): boolean => {
  if (path === '') return false
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** A sandbox needs rights that containers lack; the rest keeps it from asking the network for anything. */
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Fails in words where there is none. */
export const launchChromium = async (): Promise<Browser> => {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(NO_CHROMIUM)
  return chromium.launch({ executablePath, args: ARGUMENTS })
}

export const chromiumAvailability = (): Availability =>
  onlyInTestAll(
    'a browser',
    findChromium() === undefined ? { available: false, why: NO_CHROMIUM } : { available: true },
  )

const NO_CHROMIUM =
  'there is no Chromium: apt-get install --no-install-recommends chromium, or name one in CHROMIUM'

export interface OpenPage {
  readonly page: Page
  /** Errors on its console, exceptions, requests that failed or were answered with an error. */
  readonly complaints: readonly string[]
}

/** @param owner pages of one context share their cookies, like tabs; those of a browser do not */
export const openPage = async (owner: Browser | BrowserContext, url: string): Promise<OpenPage> => {
  const page = await owner.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`exception: ${String(error)}`))
  page.on('requestfailed', (request) =>
    complaints.push(`failed: ${request.url()} ${request.failure()?.errorText ?? ''}`),
  )
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`)
  })
  await page.goto(url)
  return { page, complaints }
}
