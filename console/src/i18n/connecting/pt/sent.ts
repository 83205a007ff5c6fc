import { AGAIN } from './remedies.js'
import type { TextsOf } from './step-text.js'

/** What came of the test message. */
export const SENT_TEXTS: TextsOf<'sent'> = {
  sent_delivered: { sentence: 'Uma mensagem para {to} foi entregue' },
  sent_underway: {
    sentence: 'O WhatsApp enviou uma mensagem para {to}, e ela ainda não chegou ao telefone',
    remedy: 'Veja o telefone: ele pode estar desligado ou sem conexão',
  },
  sent_unreported: {
    sentence: 'O WhatsApp aceitou uma mensagem para {to}, e nenhum callback disse o que foi feito dela',
    remedy: 'Veja o telefone. Se a mensagem estiver lá, os callbacks não chegam',
  },
  sent_not_yet: {
    sentence: 'Nenhuma mensagem foi enviada para {to}: algo antes ainda não está feito',
    remedy: 'Faça o que se diz ali e conecte de novo',
  },
  sent_not_listed: {
    sentence: '{to} não está na lista de destinatários do número de teste ({text})',
    remedy:
      'Adicione-o no painel de apps, em Casos de uso, Personalizar, Configuração da API, nas duas formas se o país tiver duas, como com e sem o 9',
  },
  sent_unregistered: {
    sentence: 'A mensagem para {to} foi recusada: o número não está registrado ({text})',
    remedy: 'Conecte de novo e informe um PIN',
  },
  sent_unpaid: {
    sentence: 'A mensagem para {to} falhou: a conta comercial não tem forma de pagamento válida ({text})',
    remedy: 'Adicione uma à própria conta comercial, no Gerenciador do WhatsApp, em Cobrança e pagamentos',
  },
  sent_locked: {
    sentence: 'A mensagem para {to} foi recusada: a conta comercial está restrita ({text})',
    remedy: 'Peça uma análise na central de suporte para empresas',
  },
  sent_unnamed: {
    sentence: 'A mensagem para {to} foi recusada: o nome de exibição não está aprovado ({text})',
    remedy: 'Aguarde a análise, ou escolha outro nome no Gerenciador do WhatsApp, em Números de telefone',
  },
  sent_too_late: {
    sentence: 'A mensagem para {to} falhou: esse telefone não escreveu ao número nas últimas 24 horas ({text})',
    remedy: 'Escreva "olá" desse telefone ao número e conecte de novo',
  },
  sent_unreachable: {
    sentence: 'A mensagem para {to} não pode ser entregue ({text})',
    remedy: 'Confira se esse número usa o WhatsApp, em uma versão que não seja antiga demais',
  },
  sent_forbidden: {
    sentence: 'O token de acesso não pode enviar a mensagem para {to} ({text})',
    remedy: 'Atribua a conta do WhatsApp ao usuário do sistema e gere o token de novo, com as duas permissões',
  },
  sent_refused: {
    sentence: 'A mensagem para {to} falhou ({text})',
    remedy: 'Procure o código na documentação e na lista do WhatsApp',
  },
  sent_unanswered: { sentence: 'O WhatsApp não aceitou a mensagem para {to} ({text})', remedy: AGAIN },
}
