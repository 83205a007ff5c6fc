import { describe, expect, it } from 'vitest'
import { startMessageWorld } from '../../../support/gateway-messages.js'
import { useStarted } from '../../../support/started.js'

const on = useStarted(startMessageWorld)

/** Sends bodies of both generations, which must succeed. Resolves to what arrived for each. */
async function both(verb: string, flat: object, nested: object, instance = 'phone') {
  const arrived = []
  for (const body of [flat, nested]) {
    const number = on.newNumber()
    const answer = await on.send(verb, instance, { number, ...body })
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
    arrived.push((await on.arrived(number))[0])
  }
  return arrived
}

describe('a send', () => {
  it('returns the message twice', async () => {
    const number = on.newNumber()
    const { status, body } = await on.send('sendText', 'phone', { number, text: 'hello' })
    expect(status).toBe(201)
    expect(body).toEqual({ ...body.response, status: 201, error: false, response: body.response })
    expect(body.response).toMatchObject({
      key: { remoteJid: `${number}@s.whatsapp.net`, fromMe: true, id: expect.stringMatching(/./) },
      status: 'PENDING',
      message: { conversation: 'hello' },
      messageType: 'conversation',
      messageTimestamp: expect.any(Number),
      instanceId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      source: 'web',
    })
    expect((await on.arrived(number))[0].id).toBe(body.key.id)
  })

  it('creates a contact for an unknown number, and adds the message to the conversation', async () => {
    const number = on.newNumber()
    await on.send('sendText', 'shop', { number, text: 'hello' })
    const { key } = on.organization
    const contact = await on.world.request('GET', `/contact?phone_number=${number}`, { key })
    expect(contact.body.contact.source).toMatchObject({ type: 'gateway_send' })
    const { body } = await on.world.request('GET', `/conversations?chatNumber=${number}`, { key })
    expect(body.messages.map((one: { message: string }) => one.message)).toEqual(['hello'])
  })

  it.each([
    ['digits', (number: string) => number],
    ['a plus', (number: string) => `+${number}`],
    ['separators', (number: string) => `+${number[0]} (${number.slice(1, 4)}) ${number.slice(4)}`],
    ['a JID', (number: string) => `${number}@s.whatsapp.net`],
    ['an older JID', (number: string) => `${number}@c.us`],
    ['a JSON number', (number: string) => Number(number)],
  ])('reads a number given as %s', async (_name, give) => {
    const number = on.newNumber()
    const { body } = await on.send('sendText', 'shop', { number: give(number), text: 'hello' })
    expect(body.key?.remoteJid).toBe(`${number}@s.whatsapp.net`)
  })

  it('goes to a group from a phone, but not from a business number', async () => {
    const group = '120363041234567890@g.us'
    const sent = await on.send('sendText', 'phone', { number: group, text: 'hello', mentioned: ['16505550001'] })
    expect([sent.status, sent.body.key?.remoteJid]).toEqual([201, group])
    const bare = await on.send('sendText', 'phone', { number: group.split('@')[0], text: 'again' })
    expect(bare.body.key.remoteJid).toBe(group)
    const refused = await on.send('sendText', 'shop', { number: group, text: 'hello' })
    expect([refused.status, refused.body.status]).toEqual([501, 501])
  })

  it('replies to a message, also with bodies of older clients', async () => {
    const number = on.newNumber()
    const first = await on.send('sendText', 'phone', { number, text: 'first' })
    const quoted = { key: { id: first.body.key.id }, message: { base64: 'x'.repeat(900_000) } }
    expect((await on.send('sendText', 'phone', { number, text: 'second', quoted })).status).toBe(201)
    await on.send('sendText', 'phone', { number, options: { quoted }, textMessage: { text: 'third' } })
    const arrived = await on.arrived(number)
    const context = { message_id: first.body.key.id }
    expect(arrived.map(({ context }) => context)).toEqual([undefined, context, context])
  })

  it('waits for the given delay', async () => {
    const number = on.newNumber()
    const answer = await on.send('sendText', 'phone', { number, text: 'slowly', delay: 1 })
    expect(answer.status).toBe(201)
    await on.send('sendText', 'shop', {
      number,
      options: { delay: 1, presence: 'composing' },
      textMessage: { text: 'a' },
    })
    expect(await on.arrived(number)).toHaveLength(2)
  })
})

describe('null, empty and unknown fields', () => {
  const empty = { delay: null, linkPreview: null, quoted: null, mentioned: null, mentionsEveryOne: null }

  it.each([
    ['null', empty],
    ['empty texts', { delay: '', linkPreview: '', quoted: '', mentioned: '', mentionsEveryOne: '' }],
    ['empty objects and lists', { options: {}, quoted: {}, mentioned: [] }],
    ['a quoted message without its id', { quoted: { key: { id: '' }, message: { conversation: '' } } }],
    ['no options', { options: null }],
    ['empty options', { options: { ...empty, mentions: { everyOne: null, mentioned: [] } } }],
    ['no delay', { delay: 0 }],
    ['a delay as a string', { delay: '2' }],
    ['unknown fields', { presence: 'composing', webhookUrl: {}, messageId: 5, textMessage: {}, __proto: [[]] }],
  ])('ignores %s', async (_name, besides) => {
    const number = on.newNumber()
    const { status, body } = await on.send('sendText', 'phone', { number, text: 'hello', ...besides })
    expect(status, JSON.stringify(body)).toBe(201)
    expect((await on.arrived(number))[0]).toMatchObject({ text: { body: 'hello' } })
  })

  it('takes a field that is empty in one place from the other', async () => {
    const number = on.newNumber()
    const body = { number, text: '', textMessage: { text: 'hello' }, delay: null, options: { delay: 1 } }
    expect((await on.send('sendText', 'phone', body)).status).toBe(201)
    expect((await on.arrived(number))[0].text.body).toBe('hello')
  })

  it('accepts mediatype in any case, and a URL in an object', async () => {
    const url = on.fileUrl('png')
    const bodies = await both(
      'sendMedia',
      { mediatype: 'Image', media: { url }, caption: null, fileName: null },
      { mediaMessage: { mediaType: 'IMAGE', media: { url }, caption: '' } },
    )
    for (const { image } of bodies) expect(image).toEqual({ id: expect.any(String) })
    for (const audio of [on.fileUrl('ogg'), { url: on.fileUrl('ogg') }]) {
      const number = on.newNumber()
      const sent = await on.send('sendAudio', 'phone', { number, options: { encoding: true }, audioMessage: { audio } })
      expect(sent.status, JSON.stringify(sent.body)).toBe(201)
      expect((await on.arrived(number))[0].audio.voice).toBe(true)
    }
  })

  it('ignores null in cards, rows and buttons', async () => {
    const card = { fullName: 'Ana', phoneNumber: '+5511988887777', wuid: null, email: null, url: null, extra: 1 }
    const row = { title: 'Rice', rowId: 'rice', description: null, extra: {} }
    const button = { type: null, displayText: 'Yes', id: 'yes', url: null, copyCode: '' }
    const mediaMessage = { mediaType: 'Image', media: { url: on.fileUrl('png') }, fileName: null }
    const sends: [string, object][] = [
      ['sendContact', { contact: [card] }],
      ['sendLocation', { latitude: 0, longitude: 0, name: null, address: null }],
      ['sendList', { title: 'a', footerText: null, buttonText: 'b', sections: [{ title: null, rows: [row] }] }],
      ['sendButtons', { title: 'a', thumbnailUrl: '', mediaMessage: {}, buttons: [button] }],
      ['sendButtons', { title: 'a', thumbnailUrl: null, mediaMessage, buttons: [button] }],
    ]
    for (const [verb, body] of sends) {
      const answer = await on.send(verb, 'shop', { number: on.newNumber(), ...body })
      expect(answer.status, JSON.stringify(answer.body)).toBe(201)
    }
  })
})

describe('every type of message', () => {
  it('sends texts', async () => {
    const bodies = await both(
      'sendText',
      { text: 'see https://example.com', linkPreview: true },
      { options: { linkPreview: true }, textMessage: { text: 'see https://example.com' } },
    )
    for (const { text } of bodies) expect(text).toEqual({ body: 'see https://example.com', preview_url: true })
  })

  it('sends files', async () => {
    const media = on.fileUrl('png')
    const bodies = await both(
      'sendMedia',
      { mediatype: 'image', media, caption: 'look', mimetype: 'image/png' },
      { mediaMessage: { mediaType: 'image', media, caption: 'look' } },
    )
    for (const { image } of bodies) expect(image).toEqual({ id: expect.any(String), caption: 'look' })
  })

  it('sends locations', async () => {
    const place = { latitude: -23.5, longitude: -46.6, name: 'Shop', address: 'Street 1' }
    for (const { location } of await both('sendLocation', place, { locationMessage: place })) {
      expect(location).toEqual(place)
    }
    const number = on.newNumber()
    expect((await on.send('sendLocation', 'shop', { number, latitude: 0, longitude: 0 })).status).toBe(201)
  })

  it('sends contact cards', async () => {
    const card = {
      fullName: 'Ana Lima',
      phoneNumber: '+55 11 98888-7777',
      organization: 'Shop',
      email: 'a@example.com',
    }
    const contact = [{ ...card, wuid: '5511988887777' }]
    for (const { contacts } of await both('sendContact', { contact }, { contactMessage: [card] })) {
      expect(contacts).toEqual([
        {
          name: { formatted_name: 'Ana Lima', first_name: 'Ana Lima' },
          phones: [{ phone: card.phoneNumber, wa_id: '5511988887777' }],
          org: { company: 'Shop' },
          emails: [{ email: 'a@example.com' }],
        },
      ])
    }
  })

  it('sends reactions in three forms', async () => {
    const number = on.newNumber()
    const { key } = (await on.send('sendText', 'phone', { number, text: 'hello' })).body
    const forms = [
      { reactionMessage: { key, text: '👍' } },
      { key, reaction: '👍🏽' },
      { reactionMessage: { key, reaction: '' } },
    ]
    for (const form of forms) {
      const { status, body } = await on.send('sendReaction', 'phone', form)
      // The organization sent the message, as its key says.
      expect([status, body.message?.reactionMessage?.key]).toEqual([201, key])
    }
    const reactions = (await on.arrived(number)).slice(1).map(({ reaction }) => reaction)
    expect(reactions).toEqual(['👍', '👍🏽', ''].map((emoji) => ({ message_id: key.id, emoji })))
  })

  it('sends polls', async () => {
    const poll = { name: 'Lunch?', selectableCount: 1, values: ['Yes', 'No'] }
    for (const body of await both('sendPoll', poll, { pollMessage: poll })) {
      expect(body.poll).toEqual({ name: 'Lunch?', options: ['Yes', 'No'], selectable_count: 1 })
    }
  })

  it('sends lists', async () => {
    const list = {
      title: 'Menu',
      description: 'Choose',
      footerText: 'Thanks',
      buttonText: 'Open',
      sections: [{ title: 'Food', rows: [{ title: 'Rice', rowId: 'rice', description: 'White' }] }],
    }
    for (const { interactive } of await both('sendList', list, { listMessage: list }, 'shop')) {
      expect(interactive).toMatchObject({
        type: 'list',
        header: { type: 'text', text: 'Menu' },
        body: { text: 'Choose' },
        footer: { text: 'Thanks' },
        action: {
          button: 'Open',
          sections: [{ title: 'Food', rows: [{ id: 'rice', title: 'Rice', description: 'White' }] }],
        },
      })
    }
  })

  it('sends buttons', async () => {
    const bodies = await both(
      'sendButtons',
      { title: 'Go on?', footer: 'Now', buttons: [{ type: 'reply', displayText: 'Yes', id: 'yes' }] },
      { buttonMessage: { title: 'Go on?', footerText: 'Now', buttons: [{ buttonText: 'Yes', buttonId: 'yes' }] } },
    )
    for (const { interactive } of bodies) {
      expect(interactive).toMatchObject({
        type: 'button',
        body: { text: 'Go on?' },
        footer: { text: 'Now' },
        action: { buttons: [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }] },
      })
    }
  })

  it('sends one button that opens an address', async () => {
    const number = on.newNumber()
    const buttons = [{ type: 'url', displayText: 'See all', url: 'https://shop.example/mugs' }]
    const sent = await on.send('sendButtons', 'shop', { number, title: 'Mugs', description: 'All colours', buttons })
    expect(sent.status, JSON.stringify(sent.body)).toBe(201)
    const [arrived] = await on.arrived(number)
    expect(arrived.interactive).toEqual({
      type: 'cta_url',
      header: { type: 'text', text: 'Mugs' },
      body: { text: 'All colours' },
      action: { name: 'cta_url', parameters: { display_text: 'See all', url: 'https://shop.example/mugs' } },
    })
  })

  it('sends carousels', async () => {
    const number = on.newNumber()
    const card = (colour: string) => ({
      title: colour,
      body: 'A mug',
      footer: 'Samples Ltd',
      imageUrl: `https://files.example/${colour}.jpg`,
      buttons: [{ displayText: 'More', id: `more-${colour}` }],
    })
    const sent = await on.send('sendCarousel', 'shop', { number, body: 'Which one?', cards: ['blue', 'red'].map(card) })
    expect(sent.status, JSON.stringify(sent.body)).toBe(201)
    const [arrived] = await on.arrived(number)
    expect(arrived.interactive).toEqual({
      type: 'carousel',
      body: { text: 'Which one?' },
      action: {
        cards: ['blue', 'red'].map((colour, card_index) => ({
          card_index,
          type: 'cta_url',
          header: { type: 'image', image: { link: `https://files.example/${colour}.jpg` } },
          body: { text: `${colour}\nA mug\nSamples Ltd` },
          action: { buttons: [{ type: 'quick_reply', quick_reply: { id: `more-${colour}`, title: 'More' } }] },
        })),
      },
    })
  })

  it('sends buttons with a picture', async () => {
    const buttons = [{ type: 'reply', displayText: 'Yes', id: 'yes' }]
    const number = on.newNumber()
    const body = { number, title: 'Go', description: 'on?', thumbnailUrl: on.fileUrl('png'), buttons }
    expect((await on.send('sendButtons', 'shop', body)).status).toBe(201)
    const [arrived] = await on.arrived(number)
    expect(arrived.interactive).toMatchObject({ header: { type: 'image' }, body: { text: 'Go\n\non?' } })
  })

  it('sends templates from business numbers', async () => {
    const template = {
      name: 'order_update',
      components: [{ type: 'BODY', text: 'Hello {{1}}', example: { body_text: [['Ana']] } }],
      category: 'UTILITY',
      language: 'en_US',
      status: 'APPROVED',
    }
    const made = await on.world.sim('PUT', '/templates', { phone_number_id: on.organization.phoneNumberId, template })
    expect(made.status, JSON.stringify(made.body)).toBe(200)
    const components = [{ type: 'body', parameters: [{ type: 'text', text: 'Ana' }] }]
    const asked = { name: 'order_update', language: 'en_US', components }
    for (const body of await both('sendTemplate', asked, { templateMessage: asked }, 'shop')) {
      expect(body.template).toEqual({ name: 'order_update', language: { code: 'en_US' }, components })
    }
  })
})
