import type { TextsOf } from './step-text.js'

/** What is found of callbacks that came, and of what a phone has. */
export const RECEIVED_TEXTS: TextsOf<'received'> = {
  phone_data_asked: { sentence: 'Os contatos e o histórico do celular foram pedidos ao WhatsApp ({ids})' },
  phone_data_refused: {
    sentence: 'O WhatsApp não envia os contatos ou o histórico do celular ({text})',
    remedy:
      'Eles podem ser pedidos uma vez, em até 24 horas depois que o número foi conectado. Para pedir de novo, desconecte o número no app e conecte-o outra vez',
  },
  phone_data_unavailable: {
    sentence: 'Não foi possível pedir ao WhatsApp os contatos e o histórico do celular ({text})',
    remedy: 'Conecte de novo em até 24 horas',
  },
  received_lately: { sentence: 'O último callback chegou em {at}' },
  received_not: {
    sentence: 'Uma mensagem foi enviada em {at}, e nenhum callback chegou desde então',
    remedy: 'Veja os motivos pelos quais os callbacks não chegam',
  },
  received_sample: {
    sentence:
      'A amostra do painel de apps chegou em {at}: o endereço e a chave secreta do app estão certos. Nenhuma mensagem chegou ainda',
    remedy: 'Publique o app e escreva "olá" do seu celular para {number}',
  },
  received_never: {
    sentence: 'Nenhum callback chegou ainda',
    remedy: 'Escreva "olá" do seu celular para {number}',
  },
}
