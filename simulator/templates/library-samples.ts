import type { JsonObject } from '../../src/lib/text/json.js'

/** A template of the library, as it is listed. */
export interface LibraryTemplate {
  id: string
  name: string
  language: string
  category: string
  topic: string
  usecase: string
  industry: string[]
  header?: string
  body: string
  body_params: string[]
  body_param_types: string[]
  buttons: JsonObject[]
}

const delivery = { category: 'UTILITY', topic: 'ORDER_MANAGEMENT', industry: ['E_COMMERCE'] }
const payments = { category: 'UTILITY', topic: 'PAYMENTS', industry: ['FINANCIAL_SERVICES'] }

/** A small library. */
export const library: readonly LibraryTemplate[] = [
  {
    ...delivery,
    id: '7138055039625601',
    name: 'parcel_on_its_way',
    language: 'en_US',
    usecase: 'SHIPMENT_CONFIRMATION',
    header: 'Your parcel is on its way',
    body: 'Hello {{1}}, we have handed over your order {{2}}. It should be with you on {{3}}, or a day later.',
    body_params: ['Ana', '#1042', 'May 3'],
    body_param_types: ['TEXT', 'TEXT', 'DATE'],
    buttons: [{ type: 'URL', text: 'Track parcel', url: 'https://www.example.com/' }],
  },
  {
    ...delivery,
    id: '7138055039625602',
    name: 'parcel_on_its_way',
    language: 'pt_BR',
    usecase: 'SHIPMENT_CONFIRMATION',
    header: 'Seu pacote está a caminho',
    body: 'Olá, {{1}}! Seu pedido {{2}} foi despachado. Ele deve chegar em {{3}} ou no dia seguinte.',
    body_params: ['Ana', '#1042', '3 de maio'],
    body_param_types: ['TEXT', 'TEXT', 'DATE'],
    buttons: [{ type: 'URL', text: 'Rastrear pacote', url: 'https://www.example.com/' }],
  },
  {
    ...delivery,
    id: '7138055039625603',
    name: 'parcel_not_delivered',
    language: 'en_US',
    usecase: 'DELIVERY_FAILED',
    body: 'We could not deliver your order {{1}} today. Please tell us when we may come again.',
    body_params: ['#1042'],
    body_param_types: ['TEXT'],
    buttons: [{ type: 'PHONE_NUMBER', text: 'Call us', phone_number: '+18005551234' }],
  },
  {
    ...payments,
    id: '7138055039625604',
    name: 'payment_is_due',
    language: 'en_US',
    usecase: 'PAYMENT_DUE_REMINDER',
    body: 'Hello {{1}}, your payment of {{2}} is due on {{3}}. Thank you for paying in time.',
    body_params: ['Ana', '$75.00', 'May 3'],
    body_param_types: ['TEXT', 'AMOUNT', 'DATE'],
    buttons: [],
  },
]
