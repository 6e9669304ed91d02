"""The study without a model: a family of text agents whose weaknesses are known, measured, drawn, put into words."""
