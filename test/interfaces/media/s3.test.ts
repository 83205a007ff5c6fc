import { expect, it } from 'vitest'
import { pdf } from '../../support/media.js'
import { startS3Server } from '../../support/s3-server.js'
import { startSendWorld } from '../../support/send-chat.js'
import { useStarted } from '../../support/started.js'

const s3 = useStarted(startS3Server)
const stage = useStarted(() => {
  const { bucket, prefix, endpoint, region, accessKey, secretKey } = s3.settings
  return startSendWorld({
    PARLEY_MEDIA_URL: `s3://${bucket}/${prefix}?endpoint=${encodeURIComponent(endpoint ?? '')}&region=${region}`,
    PARLEY_MEDIA_ACCESS_KEY: accessKey ?? '',
    PARLEY_MEDIA_SECRET_KEY: secretKey ?? '',
  })
})

it('stores a sent file in the bucket, and serves it, also in ranges, until its contact is erased', async () => {
  const { world, organization, newContact, sent, shown, fileUrl } = stage
  const phone_number = await newContact()
  await sent({ phone_number, message_type: 'document', media_url: fileUrl('pdf', 'list.pdf') })
  const [{ media_url }] = await shown(phone_number)
  expect(media_url.startsWith(`${world.app.url}/media/`)).toBe(true)
  const whole = await fetch(media_url)
  expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'application/pdf'])
  expect(Buffer.from(await whole.arrayBuffer())).toEqual(pdf())
  const part = await fetch(media_url, { headers: { range: 'bytes=2-5' } })
  expect([part.status, await part.text()]).toEqual([206, pdf().subarray(2, 6).toString('latin1')])

  const [, organizationId, mediaId] = /media\/([^/]+)\/([^?]+)/.exec(media_url) ?? []
  const blob = await world.app.ctx.blobs.open(`${organizationId}/${mediaId}`)
  expect(blob).not.toBeNull()
  blob?.destroy()
  await world.request('DELETE', `/contact?phone_number=${phone_number}`, { key: organization.key })
  await world.drain()
  expect((await fetch(media_url)).status).toBe(404)
  expect(await world.app.ctx.blobs.open(`${organizationId}/${mediaId}`)).toBeNull()
})

it('stores a received file in the bucket', async () => {
  const { world, organization, newContact, shown } = stage
  const from = await newContact()
  await world.sim('POST', '/inbound', {
    phone_number_id: organization.phoneNumberId,
    from,
    type: 'document',
    document: { data: pdf().toString('base64'), filename: 'offer.pdf' },
  })
  await world.settle()
  const [{ media_url }] = await shown(from)
  const answer = await fetch(media_url)
  expect(answer.headers.get('content-disposition')).toBe('inline; filename="offer.pdf"')
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(pdf())
})
