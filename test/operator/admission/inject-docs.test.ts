// docs/sidecar.md says what is injected, and its file of --sidecar is one.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { inject } from '../../../operator/admission/inject.ts'
import { readSidecarSettings } from '../../../operator/admission/inject-settings.ts'
import { applyPatch } from '../../support/json-patch.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/sidecar.md'), 'utf8')
const blocks = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, yaml = '']): unknown =>
  parse(yaml),
)

it('the file in the page is one that is taken', () => {
  expect(readSidecarSettings(blocks[1])).toHaveProperty('settings')
})

it('the container in the page is the one that is injected', () => {
  const read = readSidecarSettings({ image: 'svc-gateway:1.0.0' })
  if ('problems' in read) throw new Error('the settings are wrong')
  const annotations = { 'gateway.svc.dev/app-port': '8080' }
  const pod = { metadata: { annotations }, spec: { containers: [] } }
  const injection = inject(pod, { settings: read.settings, manager: 'svc-operator' })
  if (injection.injection !== 'patch') throw new Error('nothing was injected')
  const after: { readonly spec: object } = applyPatch(pod, injection.patch)
  expect({ containers: [], ...(blocks[2] as object) }).toEqual(after.spec)
})
