// Writes the text of a manifest's file: comments that say what a person must do, then the resources. The Secret is a
// comment, because it must be filled in before it is applied: a placeholder must never become a secret.

import type { ValueMap } from '../../language/expression/value.ts'
import { writeYaml } from '../../operator/manifests/write-yaml.ts'
import { type Manifest, metadataOf } from './manifest.ts'

export const manifestText = (title: string, manifest: Manifest): string => {
  const { object, beside = [], notes } = manifest
  const comments = [title, ...notes, ...secretLines(manifest)].map(
    (line) => `#${line === '' ? '' : ` ${oneLine(line)}`}\n`,
  )
  const texts = [...beside, object].map(writeYaml)
  return `${comments.join('')}${texts.join('---\n')}`
}

const secretLines = ({ secret, object }: Manifest): readonly string[] => {
  if (secret === undefined) return []
  const { name, wanted } = secret
  const stringData = Object.fromEntries(wanted.map(({ key }) => [key, '']))
  const yaml = writeYaml({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadataOf({ name, namespace: namespaceOf(object) }),
    stringData,
  })
  return [
    '',
    'A gateway never returns secrets. Fill this Secret in and create it before you apply the rest:',
    ...wanted.map(({ key, what }) => `- ${key}: ${what}`),
    '',
    ...yaml.trimEnd().split('\n'),
    '',
  ]
}

const namespaceOf = ({ metadata }: ValueMap): string | null => {
  const { namespace } = metadata as { readonly namespace?: string }
  return namespace ?? null
}

/** A line break in it would end the comment. */
const oneLine = (text: string): string =>
  // eslint would take the characters themselves for a mistake.
  text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '\u{fffd}')
