import type { Template } from './template.js'

const approved = { status: 'APPROVED', rejected_reason: 'NONE' }

/** The initial templates of every business account: one of each kind. */
export const sampleTemplates: readonly Template[] = [
  {
    ...approved,
    name: 'hello_world',
    language: 'en_US',
    category: 'UTILITY',
    parameter_format: 'POSITIONAL',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Hello World' },
      { type: 'BODY', text: 'Welcome and congratulations! This message shows that templates can be sent.' },
      { type: 'FOOTER', text: 'The simulator' },
    ],
  },
  {
    ...approved,
    name: 'oferta_da_semana',
    language: 'pt_BR',
    category: 'MARKETING',
    parameter_format: 'NAMED',
    components: [
      {
        type: 'BODY',
        text: 'Oi, {{name}}! Esta semana você tem {{discount}} de desconto em toda a loja.',
        example: {
          body_text_named_params: [
            { param_name: 'name', example: 'Ana' },
            { param_name: 'discount', example: '20%' },
          ],
        },
      },
      { type: 'FOOTER', text: 'Para não receber mais, toque em Parar' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Quero saber mais' },
          { type: 'QUICK_REPLY', text: 'Parar' },
          {
            type: 'URL',
            text: 'Ver ofertas',
            url: 'https://shop.example/s/{{1}}',
            example: ['https://shop.example/s/abc'],
          },
        ],
      },
    ],
  },
  {
    ...approved,
    name: 'pedido_enviado',
    language: 'pt_BR',
    category: 'UTILITY',
    parameter_format: 'POSITIONAL',
    components: [
      {
        type: 'BODY',
        text: 'Olá, {{1}}! O seu pedido {{2}} foi enviado.',
        example: { body_text: [['Ana', '1042']] },
      },
    ],
  },
  {
    ...approved,
    name: 'nova_colecao',
    language: 'pt_BR',
    category: 'MARKETING',
    parameter_format: 'NAMED',
    components: [
      {
        type: 'HEADER',
        format: 'IMAGE',
        example: { header_handle: ['https://shop.example/collection.jpg'] },
      },
      {
        type: 'BODY',
        text: '{{name}}, a nova coleção chegou!',
        example: { body_text_named_params: [{ param_name: 'name', example: 'Ana' }] },
      },
      { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Parar' }] },
    ],
  },
]
