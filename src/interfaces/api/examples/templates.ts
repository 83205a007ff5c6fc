// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "templates.sync": [
    {
      "name": "example",
      "status": 200,
      "answer": {
        "success": true,
        "message": "4 templates are known",
        "total": 4,
        "added": 0,
        "changed": 0,
        "removed": 0,
        "synced_at": "2026-03-02T09:00:00.000Z"
      }
    },
    {
      "name": "invalid_provider",
      "status": 400,
      "answer": {
        "success": false,
        "error": "Invalid provider",
        "message": "The organization's provider is not set: sending needs the provider upstream"
      }
    }
  ],
  "templates.list": [
    {
      "name": "example",
      "status": 200,
      "answer": {
        "success": true,
        "templates": [
          {
            "name": "hello_world",
            "language": "en_US",
            "status": "APPROVED",
            "category": "UTILITY",
            "parameter_format": "POSITIONAL",
            "components": [
              {"text": "Hello World", "type": "HEADER", "format": "TEXT"},
              {"text": "Welcome and congratulations! This message shows that templates can be sent.", "type": "BODY"},
              {"text": "The simulator", "type": "FOOTER"}
            ]
          },
          {
            "name": "nova_colecao",
            "language": "pt_BR",
            "status": "APPROVED",
            "category": "MARKETING",
            "parameter_format": "NAMED",
            "components": [
              {
                "type": "HEADER",
                "format": "IMAGE",
                "example": {"header_handle": ["https://shop.example/collection.jpg"]}
              },
              {
                "text": "{{name}}, a nova coleção chegou!",
                "type": "BODY",
                "example": {"body_text_named_params": [{"example": "Ana", "param_name": "name"}]}
              },
              {"type": "BUTTONS", "buttons": [{"text": "Parar", "type": "QUICK_REPLY"}]}
            ]
          },
          {
            "name": "oferta_da_semana",
            "language": "pt_BR",
            "status": "APPROVED",
            "category": "MARKETING",
            "parameter_format": "NAMED",
            "components": [
              {
                "text": "Oi, {{name}}! Esta semana você tem {{discount}} de desconto em toda a loja.",
                "type": "BODY",
                "example": {
                  "body_text_named_params": [{"example": "Ana", "param_name": "name"}, {"example": "20%", "param_name": "discount"}]
                }
              },
              {"text": "Para não receber mais, toque em Parar", "type": "FOOTER"},
              {
                "type": "BUTTONS",
                "buttons": [
                  {"text": "Quero saber mais", "type": "QUICK_REPLY"},
                  {"text": "Parar", "type": "QUICK_REPLY"},
                  {
                    "url": "https://shop.example/s/{{1}}",
                    "text": "Ver ofertas",
                    "type": "URL",
                    "example": ["https://shop.example/s/abc"]
                  }
                ]
              }
            ]
          },
          {
            "name": "pedido_enviado",
            "language": "pt_BR",
            "status": "APPROVED",
            "category": "UTILITY",
            "parameter_format": "POSITIONAL",
            "components": [
              {
                "text": "Olá, {{1}}! O seu pedido {{2}} foi enviado.",
                "type": "BODY",
                "example": {"body_text": [["Ana", "1042"]]}
              }
            ]
          }
        ]
      }
    },
    {
      "name": "invalid_api_key",
      "status": 401,
      "answer": {"success": false, "error": "Invalid API key", "message": "API key is not known"}
    }
  ]
}
