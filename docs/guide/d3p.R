# Fits a formula privately. data: a data frame or a path. columns: for every column of the formula
# its public bounds, c(18, 100), or c(0L, 12L) for whole numbers; its levels, c("no", "yes"); or a
# line of the model file, I("{type: real, lower: 0, upper: 9, scale: {center: 2, by: 1}}").
# records: a public number of units. constant_within: "none" if every column varies within the groups
# of the formula. ...: flags of d3p fit, such as delta = 1e-6.
d3p <- function(formula, data, columns, epsilon, records, family = "bernoulli", priors = list(),
                unit = "person", constant_within = NULL, out = tempfile("d3p"), binary = "d3p", ...) {
  quoted <- function(x) encodeString(x, quote = '"')
  declared <- function(c, name) {
    if (inherits(c, "AsIs")) return(as.character(c))
    if (is.character(c)) {
      kind <- if (family == "bernoulli" && name == all.vars(formula)[1]) "binary" else "category"
      return(paste0("{type: ", kind, ", levels: [", paste(quoted(c), collapse = ", "), "]}"))
    }
    type <- if (is.integer(c)) "integer" else "real"
    sprintf("{type: %s, lower: %s, upper: %s}", type, format(c[1], digits = 15), format(c[2], digits = 15))
  }
  dir.create(out, showWarnings = FALSE)
  model <- file.path(out, "model.yaml")
  run <- file.path(out, "run")
  writeLines(c(
    "d3p: 1", "name: model", "data:",
    sprintf("  unit: {entity: %s, rows_per_unit: 1}", unit), sprintf("  rows: {public: %d}", as.integer(records)),
    "  columns:", sprintf("    %s: %s", quoted(names(columns)), mapply(declared, columns, names(columns))),
    if (!is.null(constant_within)) paste("  constant_within:", constant_within),
    "model:", paste0("  formula: ", quoted(paste(deparse(formula, width.cutoff = 500), collapse = " "))),
    paste0("  family: ", family),
    if (length(priors)) c("  priors:", sprintf("    %s: %s", quoted(names(priors)), unlist(priors)))), model)
  if (is.data.frame(data)) {
    write.csv(data[names(columns)], file.path(out, "data.csv"), row.names = FALSE, na = "")
    data <- file.path(out, "data.csv")
  }
  flags <- list(...)
  flags <- if (length(flags)) sprintf("--%s=%s", gsub("_", "-", names(flags)), unlist(flags))
  log <- file.path(out, "messages.txt")
  status <- system2(binary, c("fit", "--epsilon", epsilon, "--model", shQuote(model), "--out", shQuote(run),
                              flags, shQuote(data)), stdout = file.path(out, "fit.txt"), stderr = log)
  if (status != 0) stop(paste(readLines(log), collapse = "\n"), call. = FALSE)
  said <- readLines(file.path(out, "fit.txt"))
  end <- said[grep("^Claim: ", said):(length(said) - 2)] # and the verdict on the statistics
  message(paste(c(grep("warning: ", readLines(log), value = TRUE), end), collapse = "\n"))
  text <- system2(binary, c("draws", shQuote(run)), stdout = TRUE)
  draws <- posterior::as_draws_df(read.csv(text = text, check.names = FALSE))
  attr(draws, "release") <- file.path(run, "release")
  draws
}
