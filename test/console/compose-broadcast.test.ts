import { describe, expect, it } from 'vitest'
import { parseList } from '../../console/src/pages/broadcasts/compose/audience/parse-list.js'
import { readRows } from '../../console/src/pages/broadcasts/compose/audience/read-rows.js'
import { localTime, toInstant } from '../../console/src/pages/broadcasts/compose/schedule/zoned.js'
import { toCampaign, withCampaign } from '../../console/src/pages/broadcasts/compose/template/campaign-link.js'
import { readForm } from '../../console/src/shared/templates/template-form.js'

const form = readForm({
  name: 'offer',
  language: 'en',
  status: 'APPROVED',
  category: 'MARKETING',
  parameter_format: 'NAMED',
  components: [
    { type: 'BODY', text: 'Hi {{name}}, {{discount}} off' },
    { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Shop', url: 'https://shop.example/{{1}}' }] },
  ],
})

describe('a pasted list', () => {
  it('may contain numbers only, or a name after each number', () => {
    expect(parseList('+55 11 90000-1234\n\n5511900005678\r\n', form).recipients).toEqual([
      { chatNumber: '+55 11 90000-1234' },
      { chatNumber: '5511900005678' },
    ])
    expect(parseList('5511900001234;Ana\n5511900005678;', form).recipients).toEqual([
      { chatNumber: '5511900001234', name: 'Ana' },
      { chatNumber: '5511900005678' },
    ])
    expect(parseList('5511900005678\n5511900001234,Ana', form).recipients).toEqual([
      { chatNumber: '5511900005678' },
      { chatNumber: '5511900001234', name: 'Ana' },
    ])
  })

  it('has values in columns named after variables and buttons', () => {
    expect(parseList('Telefone,Nome,DISCOUNT,shop,city\n5511900001234,Ana,"1,5%",a,SP\nfoo,,,,', form)).toEqual({
      recipients: [
        {
          chatNumber: '5511900001234',
          name: 'Ana',
          bodyParameters: { discount: '1,5%' },
          buttonParameters: { param1: 'a' },
        },
        { chatNumber: 'foo' },
      ],
      columns: ['body.discount', 'buttons.param1'],
      ignored: ['city'],
    })
  })

  it('is parsed as spreadsheets write it', () => {
    expect(readRows('\ufeffa\t"b ""c""\nd"\t\r\n\t\t\r\ne')).toEqual([['a', 'b "c"\nd', ''], ['e']])
  })
})

describe('the link of a campaign', () => {
  it('is named after the broadcast', () => {
    expect(['Spring sale!', '  Promoção de Natal 2026 ', 'ação/B', '🎉'].map(toCampaign)).toEqual([
      'spring-sale',
      'promocao-de-natal-2026',
      'acao-b',
      '',
    ])
  })

  it('adds source and campaign, and keeps the other parameters', () => {
    expect(withCampaign(' https://shop.example/sale?size=m#top ', 'chat', 'spring-sale')).toBe(
      'https://shop.example/sale?size=m&utm_source=chat&utm_campaign=spring-sale#top',
    )
    expect(withCampaign('https://shop.example/?utm_campaign=old&utm_source=mail', 'chat', 'new')).toBe(
      'https://shop.example/?utm_campaign=new&utm_source=chat',
    )
    expect(withCampaign('shop.example', 'chat', 'new')).toBeNull()
    expect(withCampaign('javascript:alert(1)', 'chat', 'new')).toBeNull()
  })
})

describe('a local time in a time zone', () => {
  it('converts both ways, also around a clock change', () => {
    expect(toInstant('2026-11-27 09:00:00', 'America/Sao_Paulo').toISOString()).toBe('2026-11-27T12:00:00.000Z')
    expect(toInstant('2026-03-29 03:30:00', 'Europe/Berlin').toISOString()).toBe('2026-03-29T01:30:00.000Z')
    expect(toInstant('2026-03-29 01:30:00', 'Europe/Berlin').toISOString()).toBe('2026-03-29T00:30:00.000Z')
    expect(localTime(new Date('2026-10-25T01:30:00Z'), 'Europe/Berlin')).toBe('2026-10-25 02:30:00')
  })
})
