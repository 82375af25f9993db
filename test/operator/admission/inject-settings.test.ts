// The file of --sidecar: what it may say, and where it is wrong.

import { describe, expect, it } from '@jest/globals'
import { readSidecarSettings } from '../../../operator/admission/inject-settings.ts'

describe('the file of --sidecar', () => {
  it('needs an image alone', () => {
    expect(readSidecarSettings({ image: 'gateway:1' })).toEqual({
      settings: {
        image: 'gateway:1',
        resources: { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '384Mi' } },
        imagePullSecrets: [],
        args: [],
        env: [],
        volumes: [],
        volumeMounts: [],
        appPreStopSeconds: 5,
      },
    })
  })

  it('may have numbers as quantities', () => {
    const read = readSidecarSettings({ image: 'i', resources: { limits: { cpu: 1 } } })
    expect(read).toMatchObject({ settings: { resources: { requests: {}, limits: { cpu: '1' } } } })
  })

  it.each<[string, object, string]>([
    ['no image', {}, '/image'],
    ['an unknown field', { image: 'i', colour: 'red' }, '/colour'],
    ['a reserved word', { image: 'i', constructor: 1 }, '/constructor'],
    ['a policy', { image: 'i', imagePullPolicy: 'Sometimes' }, '/imagePullPolicy'],
    ['a resource', { image: 'i', resources: { limits: { gpu: 1 } } }, '/resources/limits/gpu'],
    ['a quantity', { image: 'i', resources: { limits: { cpu: 'x' } } }, '/resources/limits/cpu'],
    [
      'a request above its limit',
      { image: 'i', resources: { requests: { cpu: 2 }, limits: { cpu: 1 } } },
      '/resources/requests/cpu',
    ],
    ['a flag of ours', { image: 'i', args: ['--management=:1'] }, '/args/0'],
    ['a flag in two words', { image: 'i', args: ['-v', 'x'] }, '/args/0'],
    ['an env without value', { image: 'i', env: [{ name: 'A' }] }, '/env/0'],
    ['an env of no name', { image: 'i', env: [{ name: 'a b', value: '' }] }, '/env/0/name'],
    [
      'an env of two sources',
      { image: 'i', env: [{ name: 'A', value: '', valueFrom: { fieldRef: { fieldPath: 'x' } } }] },
      '/env/0',
    ],
    ['a volume without source', { image: 'i', volumes: [{ name: 'a' }] }, '/volumes/0'],
    [
      'a volume of ours',
      { image: 'i', volumes: [{ name: 'svc-gateway-state', emptyDir: {} }] },
      '/volumes/0/name',
    ],
    [
      'a mount of no volume',
      { image: 'i', volumeMounts: [{ name: 'a', mountPath: '/a' }] },
      '/volumeMounts/0/name',
    ],
    [
      'a mount in our place',
      {
        image: 'i',
        volumes: [{ name: 'a', emptyDir: {} }],
        volumeMounts: [{ name: 'a', mountPath: '/var/lib/svc-gateway/' }],
      },
      '/volumeMounts/0/mountPath',
    ],
    ['a pause', { image: 'i', appPreStopSeconds: 61 }, '/appPreStopSeconds'],
  ])('is refused for %s', (_, value, path) => {
    expect(readSidecarSettings(value)).toEqual({
      problems: expect.arrayContaining([expect.objectContaining({ path })]),
    })
  })
})
