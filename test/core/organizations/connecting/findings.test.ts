import { expect, it } from 'vitest'
import { found, withoutSecrets } from '../../../../src/core/organizations/connecting/findings.js'

it('hides secrets in the text of an error, and leaves addresses whole', () => {
  const url = 'https://chat.parley.example/hooks/upstream'
  const finding = found('callbacks_unverified', { url, text: 'GET /?hub.verify_token=parley' })
  expect(withoutSecrets(finding, [undefined, 'parley']).values).toEqual({ url, text: 'GET /?hub.verify_token=…' })
})
