// Reads the file of `--sidecar`, which configures injected gateways, in its current version. A problem prevents a
// start; later it is logged, and the version before stays in use.

import { readFile } from 'node:fs/promises'
import { messageOf } from '../base/thrown.ts'
import type { Log } from '../telemetry/log.ts'
import { readSidecarSettings, type SidecarSettings } from './admission/inject-settings.ts'
import { parseYaml } from './manifests/parse-yaml.ts'

/**
 * Read at each use: it is small, and a mounted ConfigMap is replaced by a link that no watch of a file sees.
 * @throws Error that names the file and each field that is wrong
 */
export const openSidecarFile = async (
  path: string,
  log: Log,
): Promise<() => Promise<SidecarSettings>> => {
  let known = await readText(path)
  let settings = readSettings(path, known)
  let failure = ''
  return async () => {
    try {
      const text = await readText(path)
      if (text !== known) {
        known = text
        settings = readSettings(path, text)
        log.info(
          'the settings of sidecars have changed: pods created from now on get the new ones',
          { path },
        )
      }
      failure = ''
    } catch (error) {
      const words = messageOf(error)
      if (words !== failure)
        log.error('the settings of sidecars cannot be read: the earlier ones stay in use', {
          path,
          error,
        })
      failure = words
    }
    return settings
  }
}

const MAX_CHARACTERS = 65_536

const readText = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const words = messageOf(error)
    throw new Error(`--sidecar: ${words}`, { cause: error })
  }
}

const readSettings = (path: string, text: string): SidecarSettings => {
  if (text.length > MAX_CHARACTERS) throw new Error(`--sidecar: ${path} is larger than 64 KiB`)
  const parsed = parseYaml(text)
  if ('error' in parsed)
    throw new Error(
      `--sidecar: ${path}:${parsed.error.line}:${parsed.error.column}: ${parsed.error.message}`,
    )
  const [document, second] = parsed.documents
  if (second !== undefined) throw new Error(`--sidecar: ${path} holds more than one YAML document`)
  const read = readSidecarSettings(document?.value ?? {})
  if ('settings' in read) return read.settings
  const lines = read.problems.map(({ path: pointer, message }) => {
    const { line, column } = document?.positionOf(pointer) ?? { line: 1, column: 1 }
    return `${path}:${line}:${column}: ${message}`
  })
  throw new Error(`--sidecar: ${lines.join('\n')}`)
}
